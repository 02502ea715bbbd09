import type { Database } from '../../common/postgres.ts';

const RELATIONS = `
  select namespace.nspname || '.' || relation.relname as name, relation.oid,
    pg_get_viewdef(relation.oid) as view
  from pg_class relation join pg_namespace namespace on namespace.oid = relation.relnamespace
  where namespace.nspname in ('mirror', 'service') and relation.relkind in ('r', 'v', 'p')
  order by 1`;
const COLUMNS = `
  select attribute.attname || ' ' || format_type(attribute.atttypid, attribute.atttypmod)
    || case when attribute.attnotnull then ' not null' else '' end
    || coalesce(' default ' || pg_get_expr(value.adbin, value.adrelid), '') as line
  from pg_attribute attribute
  left join pg_attrdef value on value.adrelid = attribute.attrelid
    and value.adnum = attribute.attnum
  where attribute.attrelid = $1 and attribute.attnum > 0 and not attribute.attisdropped
  order by attribute.attnum`;
const CONSTRAINTS = `
  select conname || ' ' || pg_get_constraintdef(oid) as line
  from pg_constraint where conrelid = $1 and contype <> 'n' order by 1`;
const INDEXES = `
  select regexp_replace(pg_get_indexdef(indexrelid), '^CREATE ', '') as line
  from pg_index where indrelid = $1 order by 1`;

/** The tables of `mirror` and `service`, with their columns, constraints and indexes. */
export async function dumpSchema(client: Database): Promise<string> {
  const { rows: relations } = await client.query<{ name: string; oid: number }>(RELATIONS);
  const parts: string[] = [];
  for (const { name, oid } of relations) {
    const lines: string[] = [];
    for (const query of [COLUMNS, CONSTRAINTS, INDEXES]) {
      const { rows } = await client.query<{ line: string }>(query, [oid]);
      lines.push(...rows.map(({ line }) => `  ${line}`));
    }
    parts.push([name, ...lines].join('\n'));
  }
  return `${parts.join('\n\n')}\n`;
}
