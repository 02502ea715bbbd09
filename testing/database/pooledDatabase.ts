import type pg from 'pg';
import { createPool } from '../../common/postgres.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';

/** A database of one test, and connections to it, which end before it is dropped. */
export interface PooledDatabase extends TestDatabase {
  readonly pool: pg.Pool;
}

/** @param options as `createTestDatabase` takes them */
export async function openPooledDatabase(
  options?: Parameters<typeof createTestDatabase>[0],
): Promise<PooledDatabase> {
  const { databaseUrl, close } = await createTestDatabase(options);
  const pool = createPool({ databaseUrl, applicationName: 'test' });
  return {
    ...{ databaseUrl, pool },
    async close() {
      await pool.end();
      await close();
    },
  };
}
