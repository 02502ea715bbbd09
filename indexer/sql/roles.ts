import type pg from 'pg';
import type { Database } from '../../common/postgres.ts';
import { FIRST_SCHEMA, MIRROR_SCHEMA } from './schema.ts';

/** Owns the schemas, migrates and writes: of indexers, and of commands that migrate. */
export const INDEXER_ROLE = 'svc_indexer';
/** Reads the mirror and writes what belongs to the service: of APIs, and of the other commands. */
export const API_ROLE = 'svc_api';

/** What the API reads alone. */
const INDEXERS_TABLES = ['migrations', 'ledger', 'announcements', 'webhook_attempts'];

/** By it the API's user deletes. */
const DELETION = 'service.delete_rows(text, tid[])';

/** Those that the indexer makes, also for a moment. */
const SCHEMAS = [
  'service',
  MIRROR_SCHEMA,
  FIRST_SCHEMA,
  'mirror_next',
  'mirror_previous',
  'pgboss',
];

/**
 * Makes both users, or gives them other passwords, and hands over to the indexer's what another user
 * has made. The user who runs it may make users, and owns what is there.
 *
 * @throws pg.DatabaseError where the user of this connection may not
 */
export async function makeRoles(
  client: pg.ClientBase,
  passwords: { indexer: string; api: string },
): Promise<void> {
  await makeUser(client, INDEXER_ROLE, passwords.indexer);
  await makeUser(client, API_ROLE, passwords.api);
  const { rows } = await client.query<{ name: string; may_all: boolean; writers: string[] }>(
    `select quote_ident(current_database()) as name, rolsuper as may_all, array(
       select oid::regprocedure::text from pg_proc
       where pronamespace = 'pg_catalog'::regnamespace and proname ~ '^(lo_|lowrite$)'
     ) as writers
     from pg_roles where rolname = current_user`,
  );
  const { name, may_all, writers = [] } = rows[0] ?? {};
  // Any other user hands over only to roles that it may become.
  if (!may_all) await client.query(`grant ${INDEXER_ROLE} to current_user`);
  await client.query(`grant connect, create on database ${name} to ${INDEXER_ROLE}`);
  await client.query(`grant connect on database ${name} to ${API_ROLE}`);
  // What every user of a database may: nothing bounds how much of the disk these take.
  await client.query(`revoke temporary on database ${name} from public`);
  if (may_all) await client.query(`revoke execute on function ${writers.join()} from public`);
  // Its transactions take milliseconds, and locks of one that hangs would hold up the indexers.
  await client.query(`alter role ${API_ROLE} set idle_in_transaction_session_timeout = '60s'`);
  await handOver(client);
  await grantToApi(client);
}

async function makeUser(client: pg.ClientBase, role: string, password: string): Promise<void> {
  if (!(await hasRole(client, role))) await client.query(`create role ${role}`);
  await client.query(`alter role ${role} with login password ${client.escapeLiteral(password)}`);
}

async function hasRole(database: Database, role: string): Promise<boolean> {
  const { rowCount } = await database.query('select from pg_roles where rolname = $1', [role]);
  return rowCount === 1;
}

/** One statement for each thing of another owner; what belongs to a table goes with it. */
async function handOver(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(
    `
      with held as (select oid, nspname, nspowner from pg_namespace where nspname = any($1)),
      owner as (select oid from pg_roles where rolname = $2),
      found as (
        select 1 as place, nspowner as owned_by, format('schema %I', nspname) as what from held
        union all
        select 2, relowner,
               format('%s %s', case relkind when 'v' then 'view' when 'S' then 'sequence'
                                            else 'table' end, relation.oid::regclass)
        from pg_class relation join held on held.oid = relnamespace
        where relkind in ('r', 'p', 'v', 'S')
          and not exists (select from pg_depend where classid = 'pg_class'::regclass
                            and objid = relation.oid and deptype in ('a', 'i')
                            and refobjsubid > 0)
        union all
        select 3, proowner, format('routine %s', routine.oid::regprocedure)
        from pg_proc routine join held on held.oid = pronamespace
        union all
        select 4, typowner, format('type %s', made.oid::regtype)
        from pg_type made join held on held.oid = typnamespace
        where typtype in ('e', 'd')
      )
      select format('alter %s owner to %I', what, $2) as statement
      from found, owner where owned_by <> owner.oid order by place, what`,
    [SCHEMAS, INDEXER_ROLE],
  );
  for (const { statement } of rows) await client.query(statement);
}

/**
 * Gives the API's user what it needs, where there is one: at each migration, so that a new table is
 * no exception. To be called by the owner of the tables. Rights to delete, or to change all columns of
 * a table, are also ones to lock it: it has neither.
 *
 * @param mirrorSchemas the mirrors that are read, or are about to be
 */
export async function grantToApi(
  database: Database,
  mirrorSchemas = [MIRROR_SCHEMA, FIRST_SCHEMA],
): Promise<void> {
  if (!(await hasRole(database, API_ROLE))) return;
  const { rows } = await database.query<{ statement: string }>(
    `
      with held as (
        select schemaname as schema, format('%I.%I', schemaname, tablename) as tables,
          schemaname = 'service' and not tablename = any($2) as is_written
        from pg_tables where schemaname = any($1 || array['service'])
      ), grants as (
        select *, has_table_privilege('${API_ROLE}', tables, 'update, delete') as is_wide, (
          select string_agg(quote_ident(attname), ', ') from pg_attribute
          where attrelid = tables::regclass and attnum > 0 and not attisdropped
        ) as columns, not has_table_privilege('${API_ROLE}', tables, 'insert') or exists (
          select from pg_attribute where attrelid = tables::regclass and attnum > 0
            and not attisdropped and not has_column_privilege('${API_ROLE}', tables, attname, 'update')
        ) as is_narrow
        from held
      )
      select distinct 1 as place,
        format('grant usage on schema %I to ${API_ROLE}', schema) as statement
      from grants where not has_schema_privilege('${API_ROLE}', schema, 'usage')
      union all
      select 2, format('revoke update, delete on %s from ${API_ROLE}', tables)
      from grants where is_wide
      union all
      select 3, format('grant insert, update (%s) on %s to ${API_ROLE}', columns, tables)
      from grants where is_written and (is_wide or is_narrow)
      union all
      select 3, format('grant select on %s to ${API_ROLE}', tables)
      from grants where not has_table_privilege('${API_ROLE}', tables, 'select')
      union all
      select 3, 'grant execute on function ${DELETION} to ${API_ROLE}'
      where not has_function_privilege('${API_ROLE}', to_regprocedure('${DELETION}'), 'execute')
      order by place`,
    [mirrorSchemas, INDEXERS_TABLES],
  );
  for (const { statement } of rows) await database.query(statement);
}
