import type { PublicKey } from '@solana/web3.js';
import { delay } from '../../common/wait.ts';
import type { Job } from '../../programs/client/generated/types.ts';
import { WorkerError } from '../protocol/errors.ts';
import type { JobReading, WorkerLedger } from './ledger.ts';

/** The caller's node may be ahead of ours by some slots. The waits add up to 2.95 s. */
const RETRY_DELAYS_MS = [50, 100, 200, 400, 800, 1_400];
/** A worker with few slots leaves some for honest callers, too. */
const STRANGERS_MIN = 32;

/**
 * Reads a job that may have been locked a moment ago.
 *
 * @param isKnown whether the last job of who names it was there
 * @throws WorkerError `job_not_found`
 */
export type FindJob = (
  address: PublicKey,
  isKnown: boolean,
) => Promise<Omit<JobReading, 'job'> & { job: Job }>;

/**
 * Anybody can sign a request for a job that is nowhere. Looking for it again and again would cost
 * our node several reads for each, so that no more of them are waited for than the worker has slots:
 * an honest caller asks for no more. For any further one a single look must do.
 *
 * @param slots how many jobs the worker takes at once
 */
export function createLookout(
  ledger: Pick<WorkerLedger, 'readJob'>,
  slots: number,
  wait: (ms: number) => Promise<void> = delay,
): FindJob {
  const strangersMax = Math.max(slots, STRANGERS_MIN);
  let strangers = 0;

  async function lookAgain(address: PublicKey): Promise<JobReading | undefined> {
    for (const ms of RETRY_DELAYS_MS) {
      await wait(ms);
      const reading = await ledger.readJob(address);
      if (reading.job !== undefined) return reading;
    }
    return undefined;
  }

  async function lookAgainForStranger(address: PublicKey): Promise<JobReading | undefined> {
    if (strangers >= strangersMax) return undefined;
    strangers += 1;
    try {
      return await lookAgain(address);
    } finally {
      strangers -= 1;
    }
  }

  return async (address, isKnown) => {
    let reading: JobReading | undefined = await ledger.readJob(address);
    if (reading.job === undefined) {
      reading = await (isKnown ? lookAgain(address) : lookAgainForStranger(address));
    }
    if (reading?.job === undefined) {
      throw new WorkerError('job_not_found', 'The ledger holds no such job');
    }
    return { ...reading, job: reading.job };
  };
}
