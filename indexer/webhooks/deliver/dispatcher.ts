import type { Logger } from '../../../runtime/logger.ts';
import { delay } from '../../../runtime/wait.ts';
import { classify, FatalError } from '../../errors.ts';
import { createWakeUp } from '../../source/wakeUp.ts';
import type { MakeAttempt } from './attempt.ts';
import type { AttemptJobs } from './attemptJobs.ts';
import type { AttemptJob } from './queue.ts';

/** Makes attempts as they become due, many at a time. */
export interface Dispatcher {
  start(): Promise<void>;
  /** Takes no more attempts, and gives those under way a few seconds to end. */
  stop(): Promise<void>;
}

/** By one process, over all webhooks: so many that a few dead receivers leave room for the others. */
const ATTEMPTS_AT_ONCE = 256;
/** Nobody announces that the time of a later attempt has come. */
const POLL_MS = 1_000;
const BACKOFF_MS = 1_000;
/** Half of the time that a process has to end. */
const DRAIN_MS = 5_000;

/** @param options.onFatal told of an error that trying again cannot mend; nothing is taken any more */
export function createDispatcher(options: {
  jobs: Pick<AttemptJobs, 'take' | 'listen'>;
  makeAttempt: MakeAttempt;
  logger: Logger;
  onFatal: (error: FatalError) => void;
}): Dispatcher {
  const { jobs, makeAttempt, logger, onFatal } = options;
  const stopping = new AbortController();
  const wakeUp = createWakeUp();
  const underWay = new Set<Promise<void>>();
  let running = Promise.resolve();

  function fail(error: unknown): void {
    const failure = classify(error);
    if (failure instanceof FatalError) {
      stopping.abort();
      onFatal(failure);
      return;
    }
    // What was taken stays taken until pg-boss hands it out again.
    logger.warn({ msg: 'Lost the database of the webhooks', reason: failure.message });
  }

  function begin(job: AttemptJob): void {
    const attempt = makeAttempt(job)
      .catch(fail)
      .finally(() => {
        underWay.delete(attempt);
        wakeUp.wake();
      });
    underWay.add(attempt);
  }

  async function takeDue(): Promise<number> {
    const room = ATTEMPTS_AT_ONCE - underWay.size;
    if (room <= 0) return 0;
    const taken = await jobs.take(room);
    for (const job of taken) begin(job);
    return taken.length;
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        if ((await takeDue()) === 0) await wakeUp.wait(POLL_MS, stopping.signal);
      } catch (error) {
        fail(error);
        await delay(BACKOFF_MS, stopping.signal);
      }
    }
  }

  return {
    async start() {
      await jobs.listen(wakeUp.wake);
      running = run();
    },
    async stop() {
      stopping.abort();
      await running;
      const drained = new AbortController();
      const left = delay(DRAIN_MS, drained.signal);
      await Promise.race([Promise.all(underWay), left]);
      drained.abort();
    },
  };
}
