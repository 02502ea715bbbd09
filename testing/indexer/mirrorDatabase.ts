import type pg from 'pg';
import { createPool, inTransaction } from '../../common/postgres.ts';
import type { LedgerTransaction } from '../../indexer/fold/event.ts';
import { applyTransactions } from '../../indexer/mirror/apply.ts';
import { MIRROR_SCHEMA, PLAN_SETTINGS } from '../../indexer/sql/schema.ts';
import { createTestDatabase } from '../database/database.ts';
import { addresses } from './scene.ts';

/** A database for one test, with the tables of the mirror and of the service. */
export interface MirrorDatabase {
  databaseUrl: string;
  pool: pg.Pool;
  apply(transactions: readonly LedgerTransaction[]): Promise<void>;
  close(): Promise<void>;
}

/** As `useSchema` sets the indexer's own connection. */
function onMirror(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  const settings = Object.entries({ search_path: MIRROR_SCHEMA, ...PLAN_SETTINGS });
  const options = settings.map(([name, value]) => `-c ${name}=${value}`).join(' ');
  url.searchParams.set('options', options);
  return url.href;
}

export async function createMirrorDatabase(): Promise<MirrorDatabase> {
  const { databaseUrl, close } = await createTestDatabase();
  const pool = createPool({ databaseUrl: onMirror(databaseUrl), applicationName: 'test' });
  return {
    databaseUrl,
    pool,
    async apply(transactions) {
      for (const transaction of transactions) {
        await inTransaction(pool, (client) => applyTransactions(client, [transaction], addresses));
      }
    },
    async close() {
      await pool.end();
      await close();
    },
  };
}
