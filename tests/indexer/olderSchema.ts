import type pg from 'pg';
import { inTransaction } from '../../common/postgres.ts';
import { listMigrations, type Migration } from '../../indexer/sql/schema.ts';

/** Makes of an empty database what a release left that knew the migrations before this one. */
export async function migrateUntil(pool: pg.Pool, { id: next }: Migration): Promise<void> {
  await pool.query(
    `create schema service;
     create schema mirror;
     create table service.migrations (
       id integer constraint migrations_pkey primary key,
       applied_at timestamptz not null default now()
     )`,
  );
  for (const { id, read } of await listMigrations()) {
    if (id >= next) return;
    await pool.query(await read());
    await pool.query('insert into service.migrations (id) values ($1)', [id]);
  }
}

/**
 * Fills every table with the rows that another database has in it, as far as it has their columns.
 * Triggers keep still: what they would write is among those rows.
 */
export async function copyRows(from: pg.Pool, to: pg.Pool): Promise<void> {
  const theirs = await listColumns(from);
  const tables = await listColumns(to);
  await inTransaction(to, async (client) => {
    await client.query('set local session_replication_role = replica');
    for (const [table, columns] of tables) {
      const shared = columns.filter((column) => theirs.get(table)?.includes(column)).join();
      const { rows } = await from.query(`select to_jsonb(row)::text as json from ${table} row`);
      await client.query(
        `insert into ${table} (${shared}) overriding system value
         select ${shared} from unnest($1::text[]) json,
           jsonb_populate_record(null::${table}, json::jsonb)`,
        [rows.map(({ json }) => json)],
      );
    }
  });
}

/** The tables of both schemas without the list of migrations, those that others refer to first. */
export async function listColumns(database: pg.Pool): Promise<Map<string, string[]>> {
  const { rows } = await database.query<{ name: string; columns: string[] }>(
    `select attrelid::regclass::text as name, array_agg(attname::text) as columns
     from pg_attribute join pg_class on pg_class.oid = attrelid
     where relkind = 'r' and relnamespace in ('mirror'::regnamespace, 'service'::regnamespace)
       and attnum > 0 and not attisdropped and relname <> 'migrations'
     group by attrelid order by attrelid`,
  );
  return new Map(rows.map(({ name, columns }) => [name, columns]));
}
