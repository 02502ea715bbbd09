import type pg from 'pg';
import { createKey } from '../../api/account/keys.ts';
import { openPooledDatabase, type PooledDatabase } from '../../testing/database/pooledDatabase.ts';

/** A migrated database with one wallet's key in it, and nothing from a ledger. */
export interface KeyedDatabase extends PooledDatabase {
  apiKey: string;
}

export async function openKeyedDatabase(): Promise<KeyedDatabase> {
  const database = await openPooledDatabase();
  return { ...database, apiKey: await createKey(database.pool, 'a wallet') };
}

/**
 * A wallet's account, as if it were on the ledger.
 *
 * @param account.address by default that of which mirrored jobs are
 */
export async function insertAccount(
  pool: pg.Pool,
  account: {
    wallet: string;
    address?: string;
    spender?: string;
    availableCredits?: bigint | number;
    lockedCredits?: number;
  },
): Promise<void> {
  const { wallet, address = 'account', spender = null } = account;
  const { availableCredits = 0, lockedCredits = 0 } = account;
  await pool.query(
    `insert into mirror.credit_accounts (
       address, wallet, spender, limit_per_job_credits, limit_per_day_credits, spent_day,
       spent_today_credits, available_credits, locked_credits, owed_credits, open_disputes,
       opened_at, sequence)
     values ($4, $1, $2, 0, 0, 0, 0, $3, $5, 0, 0, 1, 1)`,
    [wallet, spender, availableCredits, address, lockedCredits],
  );
}
