import type pg from 'pg';
import { inTransaction } from '../../../common/postgres.ts';
import { until } from '../../../testing/until.ts';

/** How many statements of this database wait for a lock. */
export async function countWaiting(pool: pg.Pool): Promise<number> {
  const { rowCount } = await pool.query(
    `select from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rowCount ?? 0;
}

/** Begins changes one after the other, which all wait for what this transaction has locked. */
export async function whileLocked(
  pool: pg.Pool,
  lock: (client: pg.PoolClient) => Promise<unknown>,
  ...changes: readonly (() => Promise<unknown>)[]
): Promise<PromiseSettledResult<unknown>[]> {
  const begun: Promise<unknown>[] = [];
  const ended = await inTransaction(pool, async (client) => {
    await lock(client);
    for (const change of changes) {
      begun.push(change());
      await until(async () => (await countWaiting(pool)) === begun.length);
    }
    // Not to be awaited here: they wait for the end of this transaction.
    return { all: Promise.allSettled(begun) };
  });
  return ended.all;
}
