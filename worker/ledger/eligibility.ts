import type { PublicKey } from '@solana/web3.js';
import type { Logger } from '../../common/logger.ts';
import type { Worker } from '../../programs/client/generated/types.ts';
import { WorkerError } from '../protocol/errors.ts';
import type { Hosting, Registration, WorkerLedger } from './ledger.ts';

/**
 * What keeps this worker from taking jobs: the program would refuse to acknowledge, or to believe,
 * any other.
 *
 * @param proofKey what this process signs with
 * @returns undefined when nothing does; the words are for people
 */
function obstacleOf({ worker, config }: Registration, proofKey: PublicKey): string | undefined {
  if (worker === undefined) return 'its account does not exist';
  const status = worker.status;
  if (status !== 'active') return `it is ${status}`;
  if (config === undefined) return 'the program is not initialized';
  if (worker.stakeTokens === 0n || worker.stakeTokens < config.minimumStakeTokens) {
    return 'its stake is below the minimum';
  }
  if (worker.unstakingTokens > 0n) return 'it is unstaking';
  if (!worker.proofKey.equals(proofKey)) return 'its account names another proof key';
  return undefined;
}

/**
 * @returns the worker's account
 * @throws WorkerError `worker_not_eligible` saying what is in the way
 */
export function requireEligible(registration: Registration, proofKey: PublicKey): Worker {
  const obstacle = obstacleOf(registration, proofKey);
  if (registration.worker && obstacle === undefined) return registration.worker;
  throw new WorkerError('worker_not_eligible', `This worker takes no jobs: ${obstacle}`);
}

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
