import type pg from 'pg';
import { applyTransaction } from '../../indexer/apply/applyTransaction.ts';
import type { LedgerTransaction } from '../../indexer/decode.ts';
import { migrate } from '../../indexer/migrate.ts';
import { MIRROR_SCHEMA } from '../../indexer/mirrorSchema.ts';
import { createPool, inTransaction } from '../../runtime/postgres.ts';
import { createTestDatabase } from '../support/database.ts';
import { addresses } from './scene.ts';

/** A database for one test, with the tables of the mirror and of the service. */
export interface MirrorDatabase {
  databaseUrl: string;
  pool: pg.Pool;
  apply(transactions: readonly LedgerTransaction[]): Promise<void>;
  close(): Promise<void>;
}

/** The indexer's statements name the mirror's tables alone. */
function onMirror(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.set('options', `-c search_path=${MIRROR_SCHEMA}`);
  return url.href;
}

/** @param bringUp makes the tables in the empty database */
export async function createMirrorDatabase(
  bringUp: (pool: pg.Pool) => Promise<void> = migrate,
): Promise<MirrorDatabase> {
  const { databaseUrl, close } = await createTestDatabase();
  const pool = createPool({ databaseUrl: onMirror(databaseUrl), applicationName: 'test' });
  await bringUp(pool);
  return {
    databaseUrl,
    pool,
    async apply(transactions) {
      for (const transaction of transactions) {
        await inTransaction(pool, (client) => applyTransaction(client, transaction, addresses));
      }
    },
    async close() {
      await pool.end();
      await close();
    },
  };
}
