import type { Database } from '../../common/postgres.ts';

/** A table of the schema `service`, with the columns that a backup holds. */
export interface ServiceTable {
  /** With its schema, as statements spell it. */
  name: string;
  columns: string[];
  /** The column that a sequence fills, if there is one. */
  identityColumn: string | null;
}

interface TableRow extends ServiceTable {
  references: string[];
}

/** All but the record of migrations, each behind those that it refers to. */
export async function listServiceTables(database: Database): Promise<ServiceTable[]> {
  const { rows } = await database.query<TableRow>(`
    select
      format('%I.%I', n.nspname, c.relname) as name,
      array(
        select quote_ident(attname)::text from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = ''
        order by attnum
      ) as columns,
      (
        select attname::text from pg_attribute
        where attrelid = c.oid and attnum > 0 and attidentity <> ''
      ) as "identityColumn",
      array(
        select distinct format('%I.%I', n2.nspname, c2.relname)
        from pg_constraint k
        join pg_class c2 on c2.oid = k.confrelid
        join pg_namespace n2 on n2.oid = c2.relnamespace
        where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid
      ) as "references"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'service' and c.relkind = 'r' and c.relname <> 'migrations'
    order by c.relname`);
  return behindReferences(rows);
}

/** @throws Error when tables refer to each other, which no order can satisfy */
function behindReferences(rows: readonly TableRow[]): ServiceTable[] {
  const ordered: TableRow[] = [];
  let waiting = [...rows];
  while (waiting.length > 0) {
    const isFree = ({ references }: TableRow): boolean =>
      references.every((name) => !waiting.some((other) => other.name === name));
    const free = waiting.filter(isFree);
    if (free.length === 0) throw new Error('Tables of the schema service refer to each other');
    ordered.push(...free);
    waiting = waiting.filter((table) => !free.includes(table));
  }
  return ordered.map(({ name, columns, identityColumn }) => ({ name, columns, identityColumn }));
}
