import type pg from 'pg';
import { type Database, inTransaction } from '../../common/postgres.ts';
import { MIRROR_SCHEMA } from '../mirrorSchema.ts';

/** Lets `work` read the mirror as it is at one moment, however long it takes. */
export function inSnapshot<Result>(
  pool: pg.Pool,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  return inTransaction(pool, async (client) => {
    await client.query('set transaction isolation level repeatable read, read only');
    await client.query(`set local search_path = ${MIRROR_SCHEMA}`);
    return work(client);
  });
}
