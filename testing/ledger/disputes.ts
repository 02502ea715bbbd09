import type { Connection } from '@solana/web3.js';
import type { Job } from '../../programs/client/index.ts';
import { advanceSeconds, readClockSeconds } from './ledger.ts';

/**
 * Advances a local ledger's time to where the job can be judged, if it is not there yet. The program
 * takes no verdict while the job could still be disputed.
 *
 * @param advance how time passes on another ledger
 */
export async function advanceToVerdict(
  connection: Connection,
  job: Job,
  advance = advanceSeconds,
): Promise<void> {
  const settledAt = job.lockedAt + BigInt(job.endedAfterSeconds);
  const judgedFrom = settledAt + BigInt(job.disputeWindowSeconds) + 1n;
  const now = await readClockSeconds(connection);
  if (now < judgedFrom) await advance(connection, Number(judgedFrom - now));
}
