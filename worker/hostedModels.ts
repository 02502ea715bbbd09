import type { PublicKey } from '@solana/web3.js';
import type { Logger } from '../common/logger.ts';
import { obstacleOf, requireEligible } from './eligibility.ts';
import type { Hosting, WorkerLedger } from './ledger.ts';

/** Anybody may ask for a worker's health as often as they like; the ledger is asked this often. */
const KEPT_MS = 5_000;

/**
 * The ids of the hosted models, as the ledger has them; WorkerError `worker_not_eligible` while it
 * lets this worker take no jobs. The log is told once when that begins, and once when it is over.
 *
 * Askers at the same time share one reading; a failed one is not kept.
 *
 * @param options.proofKey what this process signs with
 * @param options.now Unix time in milliseconds
 */
export function createHostedModels(options: {
  ledger: Pick<WorkerLedger, 'readHosting'>;
  proofKey: PublicKey;
  logger: Logger;
  now: () => number;
}): () => Promise<string[]> {
  const { ledger, proofKey, logger, now } = options;
  let kept: { hosting: Promise<Hosting>; atMs: number } | undefined;
  let wasHindered = false;

  /** The log hears of these readings alone: those of jobs overlap, and could tell it old news. */
  async function read(): Promise<Hosting> {
    const hosting = await ledger.readHosting();
    const obstacle = obstacleOf(hosting, proofKey);
    const isHindered = obstacle !== undefined;
    if (isHindered && !wasHindered) {
      logger.error({ msg: 'Found that this worker may take no jobs', cause: obstacle });
    } else if (wasHindered && !isHindered) {
      logger.info({ msg: 'Found that this worker may take jobs' });
    }
    wasHindered = isHindered;
    return hosting;
  }

  return async () => {
    // A clock that was put back has not stood still.
    if (kept === undefined || Math.abs(now() - kept.atMs) >= KEPT_MS) {
      kept = { hosting: read(), atMs: now() };
    }
    const hosting = await kept.hosting.catch((error) => {
      kept = undefined;
      throw error;
    });
    requireEligible(hosting, proofKey);
    return hosting.models;
  };
}
