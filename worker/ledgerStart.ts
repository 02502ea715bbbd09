import { delay } from '../common/wait.ts';
import { WorkerError } from './errors.ts';
import type { WorkerLedger } from './ledger.ts';

/**
 * The ledger's time at which this process began, in Unix seconds; resolves once that second is over.
 *
 * Another process of this worker may have proven any job that was locked until then. Whoever waits
 * for it can tell jobs of before from jobs of after, although the ledger counts whole seconds.
 *
 * Undefined when the worker was not registered yet: then it cannot have proven anything.
 *
 * @throws WorkerError `ledger_unavailable`; the next call asks again
 */
export type ReadLedgerStart = () => Promise<bigint | undefined>;

const POLL_MS = 100;
/** Three seconds: the ledger's time may pause for some slots, and whoever asks does not wait longer. */
const POLLS_MAX = 30;

/**
 * Asks at once. All callers share one reading; one that failed is made anew, and being later it only
 * leaves out more jobs.
 */
export function createLedgerStart(ledger: Pick<WorkerLedger, 'readOwn'>): ReadLedgerStart {
  let kept: ReturnType<ReadLedgerStart> | undefined;

  async function readPast(): ReturnType<ReadLedgerStart> {
    const { worker, unixSeconds: startSeconds } = await ledger.readOwn();
    if (worker === undefined) return undefined;
    for (let poll = 0; poll < POLLS_MAX; poll += 1) {
      await delay(POLL_MS);
      const { unixSeconds } = await ledger.readOwn();
      if (unixSeconds > startSeconds) return startSeconds;
    }
    throw new WorkerError('ledger_unavailable', "The ledger's time stands still");
  }

  async function read(): ReturnType<ReadLedgerStart> {
    kept ??= readPast();
    const reading = kept;
    try {
      return await reading;
    } catch (error) {
      if (kept === reading) kept = undefined;
      throw error;
    }
  }

  // A ledger that is away at the start refuses nobody for good: health and jobs ask again.
  read().catch(() => undefined);
  return read;
}
