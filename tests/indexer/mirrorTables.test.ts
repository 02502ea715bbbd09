import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { blankRow, MIRROR_TABLES, STEPS, TABLE_NAMES } from '../../common/database/mirrorTables.ts';
import { readDocumentation } from '../../programs/tools/referenceInterface.ts';
import { PROJECT_FOLDER } from '../../testing/childProcess.ts';
import { ownClient, ownMirror } from '../../testing/indexer/own.ts';

const mirror = await ownMirror();
const client = await ownClient(mirror);

/** Columns that the database has otherwise than the table of exceptions, and those of that table. */
async function differences(): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(
    `select relname || '.' || attname || ' ' || format_type(atttypid, atttypmod)
       || case when attnotnull then ' not null' else '' end as line
     from pg_attribute join pg_class on pg_class.oid = attrelid
     where relnamespace = 'mirror'::regnamespace and relname = any($1)
       and attnum > 0 and not attisdropped`,
    [Object.keys(MIRROR_TABLES)],
  );
  const found = rows.map(({ line }) => line);
  const expected = Object.entries(MIRROR_TABLES).flatMap(([table, { columns }]) => [
    ...[`${table}.address text not null`, `${table}.sequence numeric(20,0) not null`],
    ...[...columns].map(
      ([name, { type, isNullable }]) =>
        `${table}.${name} ${type}${isNullable === true ? '' : ' not null'}`,
    ),
  ]);
  return [
    ...found.filter((line) => !expected.includes(line)).map((line) => `database: ${line}`),
    ...expected.filter((line) => !found.includes(line)).map((line) => `mirrorTables: ${line}`),
  ].sort();
}

describe('mirrorTables.ts', () => {
  it('gives each mirrored table the database’s columns, with their types', async () => {
    expect(await differences()).toEqual([]);
  });
});

describe('the steps of an event', () => {
  it('are those that the program names', async () => {
    const idl = JSON.parse(
      await readFile(join(PROJECT_FOLDER, 'programs/client/idl.json'), 'utf8'),
    ) as Parameters<typeof readDocumentation>[0];
    const found = idl.instructions.flatMap((instruction) => {
      const { events, steps } = readDocumentation(idl, instruction);
      return steps.length > 0 ? events.map((event) => [event, steps]) : [];
    });
    expect(Object.fromEntries(found)).toEqual(STEPS);
  });
});

/** What only events show of a new job. */
const OF_LOCK = { wallet: 'a wallet', model_id: 'a model', escrow_tx: 'a lock', escrow_slot: 9n };

describe('the row of a new account', () => {
  it.each(TABLE_NAMES)('has the values that the database returns from %s', async (table) => {
    const row = {
      ...{ address: 'an address', sequence: 1n, ...blankRow(table) },
      ...(table === 'jobs' && OF_LOCK),
    };
    const json = JSON.stringify(row, (_name, value) =>
      typeof value === 'bigint' ? `${value}` : value,
    );
    const { rows } = await client.query(
      `insert into ${table} (${Object.keys(row)})
       select ${Object.keys(row)} from jsonb_populate_record(null::${table}, $1) returning *`,
      [json],
    );
    expect(rows).toEqual([row]);
  });
});
