import {
  JOB_ID_AGE_MS_MAX,
  JOB_ID_LEAD_MS_MAX,
} from '../../programs/client/generated/constants.ts';

/** The time of a reading and the job's deadline, in the ledger's Unix seconds. */
export interface JobLife {
  /** The time of the reading. */
  unixSeconds: bigint;
  /** From this time any key may refund the job. */
  deadlineSeconds: bigint;
}

export type Attempts = ReturnType<typeof createAttempts>;

interface TakenJob {
  attempt: number;
  state: 'running' | 'ended' | 'answered';
  deletableAtSeconds: bigint;
}

/**
 * A lock that a fork dropped may land again later, as long as the time in its id allows. So the
 * deadline may shift by the whole time in which a lock of the id can land.
 */
const DEADLINE_SHIFT_SECONDS_MAX = BigInt((JOB_ID_AGE_MS_MAX + JOB_ID_LEAD_MS_MAX) / 1_000);

/** Far more than one worker can answer before a job is deleted; about 20 MB. */
const JOBS_MAX = 100_000;

/**
 * The jobs that were taken, so that none is answered twice, and no (job, attempt) is ever proven
 * twice.
 *
 * A job is deleted only when a reading of the ledger was past its deadline. After that no job with
 * this deadline is taken, even if a later reading comes from a node that is behind. The machine's
 * clock plays no part, because the ledger's time may stand still while it runs.
 *
 * A full record refuses jobs and deletes none: a second, different proof of one attempt would
 * convict this worker.
 */
export function createAttempts() {
  const jobs = new Map<string, TakenJob>();
  let latestSeconds = 0n;

  function deletePast(): void {
    for (const [job, { deletableAtSeconds }] of jobs) {
      if (deletableAtSeconds < latestSeconds) jobs.delete(job);
    }
  }

  /** Whether this attempt may be taken, as far as the record knows. */
  function isOpen(job: string, attempt: number): boolean {
    const taken = jobs.get(job);
    return taken === undefined || (taken.state === 'ended' && attempt > taken.attempt);
  }

  return {
    isOpen,
    /**
     * Takes an attempt, and keeps the job from any other until it ends.
     *
     * @returns false when the job is being answered, was answered, or may have been deleted from the
     *   record. Also false when the attempt is not greater than the last one, or the record is full
     */
    take(job: string, attempt: number, { unixSeconds, deadlineSeconds }: JobLife): boolean {
      if (unixSeconds > latestSeconds) {
        latestSeconds = unixSeconds;
        deletePast();
      }
      const isPast = deadlineSeconds < latestSeconds;
      const isFull = jobs.size >= JOBS_MAX && !jobs.has(job);
      if (isPast || isFull || !isOpen(job, attempt)) return false;
      const deletableAtSeconds = deadlineSeconds + DEADLINE_SHIFT_SECONDS_MAX;
      jobs.set(job, { attempt, state: 'running', deletableAtSeconds });
      return true;
    },
    /** The attempt that was taken has output: no other attempt of this job is taken any more. */
    recordOutput(job: string): void {
      const taken = jobs.get(job);
      if (taken) taken.state = 'answered';
    },
    /** The attempt that was taken has ended: without output, a greater one may follow. */
    end(job: string): void {
      const taken = jobs.get(job);
      if (taken?.state === 'running') taken.state = 'ended';
    },
  };
}
