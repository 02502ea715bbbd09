import type pg from 'pg';
import { createKey } from '../../api/services/keys.ts';
import { migrate } from '../../indexer/migrate.ts';
import { createPool } from '../../runtime/postgres.ts';
import { createTestDatabase } from '../support/database.ts';

/** A migrated database with one wallet's key in it, and nothing that a ledger would tell. */
export interface KeyedDatabase {
  pool: pg.Pool;
  apiKey: string;
  close(): Promise<void>;
}

export async function openKeyedDatabase(): Promise<KeyedDatabase> {
  const database = await createTestDatabase();
  const pool = createPool({ databaseUrl: database.databaseUrl, applicationName: 'test' });
  await migrate(pool);
  return {
    pool,
    apiKey: await createKey(pool, 'a wallet'),
    async close() {
      await pool.end();
      await database.close();
    },
  };
}
