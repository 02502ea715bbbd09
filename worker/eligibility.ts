import type { PublicKey } from '@solana/web3.js';
import type { Worker } from '../programs/client/types.ts';
import { WORKER_STATUSES, word } from '../programs/client/vocabulary.ts';
import { WorkerError } from './errors.ts';
import type { Standing } from './ledger.ts';

/**
 * What keeps this worker from taking jobs: the program would refuse to acknowledge, or to believe,
 * any other.
 *
 * @param proofKey what this process signs with
 * @returns undefined when nothing does; the words are for people
 */
export function obstacleOf({ worker, config }: Standing, proofKey: PublicKey): string | undefined {
  if (worker === undefined) return 'its account does not exist';
  const status = word(WORKER_STATUSES, worker.status);
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
export function requireEligible(standing: Standing, proofKey: PublicKey): Worker {
  const obstacle = obstacleOf(standing, proofKey);
  if (standing.worker && obstacle === undefined) return standing.worker;
  throw new WorkerError('worker_not_eligible', `This worker takes no jobs: ${obstacle}`);
}
