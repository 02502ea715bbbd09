import type pg from 'pg';
import { createKey } from '../../api/account/keys.ts';
import { createPool } from '../../common/postgres.ts';
import { createTestDatabase } from '../../testing/database/database.ts';

/** A migrated database with one wallet's key in it, and nothing from a ledger. */
export interface KeyedDatabase {
  pool: pg.Pool;
  databaseUrl: string;
  apiKey: string;
  close(): Promise<void>;
}

export async function openKeyedDatabase(): Promise<KeyedDatabase> {
  const database = await createTestDatabase();
  const pool = createPool({ databaseUrl: database.databaseUrl, applicationName: 'test' });
  return {
    pool,
    databaseUrl: database.databaseUrl,
    apiKey: await createKey(pool, 'a wallet'),
    async close() {
      await pool.end();
      await database.close();
    },
  };
}

/**
 * A wallet's account, as if it were on the ledger.
 *
 * @param account.address by default that of which mirrored jobs are
 */
export async function insertAccount(
  pool: pg.Pool,
  account: { wallet: string; address?: string; spender?: string; availableCredits?: bigint },
): Promise<void> {
  const { wallet, address = 'account', spender = null, availableCredits = 0n } = account;
  await pool.query(
    `insert into mirror.credit_accounts (
       address, wallet, spender, limit_per_job_credits, limit_per_day_credits, spent_day,
       spent_today_credits, available_credits, locked_credits, owed_credits, open_disputes,
       opened_at, sequence)
     values ($4, $1, $2, 0, 0, 0, 0, $3, 0, 0, 0, 1, 1)`,
    [wallet, spender, availableCredits, address],
  );
}
