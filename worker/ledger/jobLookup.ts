import type { PublicKey } from '@solana/web3.js';
import { delay } from '../../common/wait.ts';
import type { Job } from '../../programs/client/generated/types.ts';
import { WorkerError } from '../protocol/errors.ts';
import type { JobReading, WorkerLedger } from './ledger.ts';

/** The lock may not be confirmed yet, and the caller's node may be ahead of ours by some slots. */
const LOOKUP_MS_MAX = 3_000;
/** A lock on a ledger of this machine is confirmed within such a time. */
const PAUSE_MS_MIN = 2;
/** A node is asked rarely before a lock like the last one would be confirmed, and often around then. */
const FIRST_PAUSE_SHARE = 0.75;
const NEXT_PAUSE_SHARE = 0.125;
/** Even a worker with little capacity repeats this many lookups at once for unknown signers. */
const UNKNOWN_LOOKUPS_MIN = 32;

/**
 * Reads a job that may have been locked a moment ago.
 *
 * @param isKnown whether the last job of the same signer was found
 * @throws WorkerError `job_not_found`
 */
export type FindJob = (
  address: PublicKey,
  isKnown: boolean,
) => Promise<Omit<JobReading, 'job'> & { job: Job }>;

/**
 * Anybody can sign a request for a job that does not exist, and each repeated lookup costs several
 * reads. So unknown signers share as many repeated lookups as the worker has capacity, which is as
 * many as honest callers need. Any further request gets a single lookup.
 *
 * @param capacity how many jobs the worker takes at once
 */
export function createJobLookup(
  ledger: Pick<WorkerLedger, 'readJob'>,
  capacity: number,
  wait: (ms: number) => Promise<void> = delay,
): FindJob {
  const unknownMax = Math.max(capacity, UNKNOWN_LOOKUPS_MIN);
  let unknownLookups = 0;

  /** How long a lock was waited for lately. */
  let usualMs = 0;

  async function retryLookup(address: PublicKey): Promise<JobReading | undefined> {
    let waitedMs = 0;
    for (const ms of pausesAround(usualMs)) {
      await wait(ms);
      waitedMs += ms;
      const reading = await ledger.readJob(address);
      if (reading.job === undefined) continue;
      usualMs = Math.max(waitedMs, usualMs / 2);
      return reading;
    }
    return undefined;
  }

  async function retryForUnknown(address: PublicKey): Promise<JobReading | undefined> {
    if (unknownLookups >= unknownMax) return undefined;
    unknownLookups += 1;
    try {
      return await retryLookup(address);
    } finally {
      unknownLookups -= 1;
    }
  }

  return async (address, isKnown) => {
    let reading: JobReading | undefined = await ledger.readJob(address);
    if (reading.job === undefined) {
      reading = await (isKnown ? retryLookup(address) : retryForUnknown(address));
    }
    if (reading?.job === undefined) {
      throw new WorkerError('job_not_found', 'The ledger holds no such job');
    }
    return { ...reading, job: reading.job };
  };
}

/** The pauses between lookups, in milliseconds; all together they take no longer than a lookup may. */
function* pausesAround(usualMs: number): Generator<number> {
  let pauseMs = Math.max(PAUSE_MS_MIN, FIRST_PAUSE_SHARE * usualMs);
  let nextMs = Math.max(PAUSE_MS_MIN, NEXT_PAUSE_SHARE * usualMs);
  for (let leftMs = LOOKUP_MS_MAX; leftMs > 0; leftMs -= pauseMs, pauseMs = nextMs, nextMs *= 2) {
    yield Math.min(pauseMs, leftMs);
  }
}
