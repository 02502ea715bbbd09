import type pg from 'pg';
import { ConfigError } from '../../common/config.ts';
import { type Database, inTransaction } from '../../common/postgres.ts';
import { grantToApi } from './roles.ts';
import { findMirror, listMigrations, type Migration } from './schema.ts';

/** By PostgreSQL's name for the SQLSTATE. */
const DEADLOCK_DETECTED = '40P01';

/** Any number that nothing else in this database locks. */
export const MIGRATION_LOCK_KEY = 7_332_001n;

/** The database was migrated by a newer release than this one. */
export class DatabaseTooNewError extends ConfigError {
  override name = 'DatabaseTooNewError';
}

/**
 * Brings the database to this release's schema: every migration that it lacks, in order, all or
 * none. Processes that start together wait for each other; the later ones find nothing to do.
 *
 * Processes of the release before may still run. Where they lock the same tables in another order,
 * PostgreSQL ends one of the transactions. Ours is then run again, as theirs are.
 *
 * A mirror that was dropped, or left out of a backup, is made again, empty. Readers find none until
 * an indexer has filled it.
 *
 * @throws DatabaseTooNewError when the database has migrations that this release does not know
 */
export async function migrate(pool: pg.Pool): Promise<void> {
  const migrations = await listMigrations();
  for (;;) {
    try {
      return await inTransaction(pool, async (client) => {
        await applyMissing(client, migrations);
        await grantToApi(client);
      });
    } catch (error) {
      if ((error as pg.DatabaseError).code !== DEADLOCK_DETECTED) throw error;
    }
  }
}

async function applyMissing(
  client: pg.ClientBase,
  migrations: readonly Migration[],
): Promise<void> {
  await client.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK_KEY]);
  await client.query('create schema if not exists service');
  const mirror = await findMirror(client);
  await client.query(`create schema if not exists ${mirror}`);
  await client.query(`set local search_path = ${mirror}`);
  await client.query(
    `create table if not exists service.migrations (
         id integer constraint migrations_pkey primary key,
         applied_at timestamptz not null default now()
       )`,
  );
  const { rows } = await client.query<{ id: number }>(
    'select id from service.migrations order by id',
  );
  const applied = new Set(rows.map(({ id }) => id));
  assertKnown(rows, migrations);
  // Only the other schema is backed up, and that says of the mirror's migrations too that they are
  // applied. The mirror has all of its tables or none: one database transaction makes them.
  const { rowCount: mirrorTables } = await client.query(
    'select from pg_tables where schemaname = $1 limit 1',
    [mirror],
  );
  for (const { id, isOfMirror, read } of migrations) {
    const isLost = isOfMirror && mirrorTables === 0;
    if (applied.has(id) && !isLost) continue;
    await client.query(await read());
    await client.query('insert into service.migrations (id) values ($1) on conflict do nothing', [
      id,
    ]);
  }
}

/** How many of this release's migrations a database has, and how many it lacks; changes nothing. */
export async function readMigrationState(
  database: Database,
): Promise<{ applied: number; missing: number }> {
  const migrations = await listMigrations();
  const { rows: tables } = await database.query(
    "select from pg_tables where schemaname = 'service' and tablename = 'migrations'",
  );
  if (tables.length === 0) return { applied: 0, missing: migrations.length };
  const { rows } = await database.query<{ id: number }>(
    'select id from service.migrations order by id',
  );
  assertKnown(rows, migrations);
  return { applied: rows.length, missing: migrations.length - rows.length };
}

/** @throws DatabaseTooNewError when one was made by a newer release */
function assertKnown(
  applied: readonly { id: number }[],
  migrations: readonly { id: number }[],
): void {
  const known = new Set(migrations.map(({ id }) => id));
  for (const { id } of applied) {
    if (!known.has(id)) {
      throw new DatabaseTooNewError(
        `Migration ${id} is not known here: DATABASE_URL names the database of a newer release, ` +
          'or of a version before the first one. Run that release, or name an empty database',
      );
    }
  }
}
