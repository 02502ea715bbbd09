import type pg from 'pg';
import { insertMirroredJobs } from '../../testing/database/jobListings.ts';

/** What the inserted jobs have for a transaction: nothing else in a mirror has it. */
const MARK = 'signature';
const DAYS = 30;
const HOUR_SECONDS = 3_600;
const STATUSES = ['settled', 'settled', 'settled', 'failed', 'settled', 'refunded'] as const;

/**
 * Gives a wallet jobs of the last 30 days, evenly spread and the newest an hour old, so that real
 * ones stay above them.
 *
 * @param models their ids, in turn
 */
export async function addJobs(
  pool: pg.Pool,
  given: { wallet: string; count: number; models: readonly string[] },
): Promise<void> {
  const { wallet, count, models } = given;
  const endSeconds = Math.floor(Date.now() / 1_000) - HOUR_SECONDS;
  const apartSeconds = (DAYS * 24 * HOUR_SECONDS) / count;
  const jobs = Array.from({ length: count }, (_, place) => {
    const lockedAt = Math.floor(endSeconds - (count - place) * apartSeconds);
    const milliseconds = (lockedAt * 1_000).toString(16).padStart(12, '0');
    return {
      wallet,
      id: `job_${milliseconds}70008000${place.toString(16).padStart(12, '0')}`,
      lockedAt,
      status: STATUSES[place % STATUSES.length] ?? 'settled',
      model: models[place % models.length] ?? 'model',
    };
  });
  await insertMirroredJobs(pool, jobs);
  await pool.query('analyze mirror.jobs');
}

export async function removeJobs(pool: pg.Pool): Promise<void> {
  await pool.query('delete from mirror.jobs where escrow_tx = $1', [MARK]);
}
