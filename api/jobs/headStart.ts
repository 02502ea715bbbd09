import { type Begun, begin, systemTime, type Time } from '../../common/wait.ts';
import type { JobDraft, LockedJob } from '../ledger/job.ts';
import type { Reservation } from '../workers/capacity.ts';
import { taskOf, type WorkerChat, type WorkerClient, type WorkerTask } from '../workers/client.ts';
import { type WorkerEvent, WorkerFailedError } from '../workers/events.ts';

// The first worker of a job is asked as soon as its lock was sent, never before. It checks the request
// and begins its answer while the ledger confirms. It sends no text before the ledger has shown it the
// job, and none is read before the lock counts here.

/** What a worker answers that was asked already, and its connection. */
export interface Asked {
  readonly answer: Begun<readonly WorkerEvent[]>;
  readonly connection: AbortController;
  /** When it was asked, in milliseconds of the process's time. */
  readonly askedMs: number;
}

const FIRST_ATTEMPT = 1;

/** @param options the job to come, and what its workers get of its request */
export function createHeadStart(
  workers: Pick<WorkerClient, 'submit'>,
  { draft, chat }: { draft: JobDraft; chat: WorkerChat },
  time: Time = systemTime,
) {
  let begun: (Asked & { readonly task: WorkerTask }) | undefined;

  function drop(): void {
    begun?.connection.abort('over');
    begun?.answer.drop();
    begun = undefined;
  }

  return {
    /** Asks the worker; once, as long as the lock is tried for the same limit. */
    begin({ worker }: Reservation, { tokenLimit }: { tokenLimit: number }): void {
      if (begun?.task.tokenLimit === tokenLimit) return;
      drop();
      const task = taskOf({ ...draft, tokenLimit }, { worker, attempt: FIRST_ATTEMPT, chat });
      const connection = new AbortController();
      const answer = begin(workers.submit(task, connection.signal));
      begun = { task, connection, answer, askedMs: time.nowMs() };
    },
    drop,
    /** What was asked for this job as it was locked. */
    of({ tokenLimit }: LockedJob): Asked | undefined {
      if (begun?.task.tokenLimit !== tokenLimit) drop();
      return begun;
    },
  };
}

/** The answer of a worker that was asked already. @param ask asks it again */
export async function* answerOf(
  { answer }: Asked,
  ask: () => AsyncIterable<readonly WorkerEvent[]>,
): AsyncGenerator<readonly WorkerEvent[]> {
  try {
    return yield* answer;
  } catch (error) {
    // A lock that took long to be confirmed is no fault of the worker that waited for it.
    if (!(error instanceof WorkerFailedError && error.code === 'job_not_found')) throw error;
  }
  yield* ask();
}
