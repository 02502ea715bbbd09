import type { PublicKey } from '@solana/web3.js';
import type { Logger } from '../../common/logger.ts';
import type { Config, Worker } from '../../programs/client/generated/types.ts';
import { WorkerError } from '../protocol/errors.ts';
import type { Hosting, Registration, WorkerLedger } from './ledger.ts';
import { type Terms, workerShare } from './terms.ts';

/** What this process brings to its account on the ledger. */
interface Own {
  /** The key with which it signs. */
  proofKey: PublicKey;
  terms: Terms;
}

/**
 * Why this worker may take no jobs. The program would refuse its acknowledgement or its proof, or
 * would pay too little.
 *
 * @returns a reason for people, or undefined while the worker is eligible
 */
function ineligibilityOf(
  { worker, config }: Registration,
  { proofKey, terms }: Own,
): string | undefined {
  if (worker === undefined) return 'its account does not exist';
  const status = worker.status;
  if (status !== 'active') return `it is ${status}`;
  if (config === undefined) return 'the program is not initialized';
  if (worker.stakeTokens === 0n || worker.stakeTokens < config.minimumStakeTokens) {
    return 'its stake is below the minimum';
  }
  if (worker.unstakingTokens > 0n) return 'it is unstaking';
  if (!worker.proofKey.equals(proofKey)) return 'its account names another proof key';
  if (workerShare(config) < terms.shareMinBasisPoints) {
    return 'its share of a charge is below WORKER_SHARE_MIN_BASIS_POINTS';
  }
  return undefined;
}

/**
 * @returns the worker's account and the configuration
 * @throws WorkerError `worker_not_eligible` with the reason
 */
export function requireEligible(
  registration: Registration,
  own: Own,
): { worker: Worker; config: Config } {
  const { worker, config } = registration;
  const reason = ineligibilityOf(registration, own);
  if (worker && config && reason === undefined) return { worker, config };
  throw new WorkerError('worker_not_eligible', `This worker takes no jobs: ${reason}`);
}

/** Health needs no key and no limit, so its readings of the ledger are cached. */
const CACHE_MS = 5_000;

/**
 * Reads the ids of the hosted models from the ledger. Throws WorkerError `worker_not_eligible` while
 * this worker may take no jobs, and logs each change of that once.
 *
 * Concurrent callers share one reading; a failed one is not cached.
 *
 * @param options.now Unix time in milliseconds
 */
export function createHostedModels(options: {
  ledger: Pick<WorkerLedger, 'readHosting'>;
  own: Own;
  logger: Logger;
  now: () => number;
}): () => Promise<string[]> {
  const { ledger, own, logger, now } = options;
  let cached: { hosting: Promise<Hosting>; atMs: number } | undefined;
  let wasEligible = true;

  /** Only these readings are logged: those of jobs overlap, and may arrive out of order. */
  async function read(): Promise<Hosting> {
    const hosting = await ledger.readHosting();
    const reason = ineligibilityOf(hosting, own);
    const isEligible = reason === undefined;
    if (!isEligible && wasEligible) {
      logger.error({ msg: 'Found that this worker may take no jobs', cause: reason });
    } else if (isEligible && !wasEligible) {
      logger.info({ msg: 'Found that this worker may take jobs' });
    }
    wasEligible = isEligible;
    return hosting;
  }

  return async () => {
    // The clock may fall back, so the difference counts in both directions.
    if (cached === undefined || Math.abs(now() - cached.atMs) >= CACHE_MS) {
      cached = { hosting: read(), atMs: now() };
    }
    const hosting = await cached.hosting.catch((error) => {
      cached = undefined;
      throw error;
    });
    requireEligible(hosting, own);
    return hosting.models;
  };
}
