import type { Database } from '../../common/postgres.ts';

/** Every column, index and constraint of the mirror that is served, by kind and name. */
export async function describeMirror(database: Database): Promise<unknown[]> {
  const { rows } = await database.query(
    `select 'column' as kind, table_name || '.' || column_name || ' ' || data_type as name
       from information_schema.columns where table_schema = 'mirror'
     union all select 'index', indexdef from pg_indexes where schemaname = 'mirror'
     union all select 'constraint', conname || ' ' || pg_get_constraintdef(oid)
       from pg_constraint where connamespace = 'mirror'::regnamespace
     order by 1, 2`,
  );
  return rows;
}
