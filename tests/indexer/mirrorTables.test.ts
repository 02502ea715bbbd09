import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { blankRow, MIRROR_TABLES, STEPS, TABLE_NAMES } from '../../common/database/mirrorTables.ts';
import type { Interface } from '../../programs/client/interface.ts';
import { readDocumentation } from '../../programs/tools/referenceInterface.ts';
import { PROJECT_FOLDER } from '../../testing/childProcess.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import { addresses } from '../../testing/indexer/scene.ts';
import { ownFolder } from '../../testing/ownFolder.ts';

let mirror: MirrorDatabase;
let client: pg.PoolClient;

beforeAll(async () => {
  mirror = await createMirrorDatabase();
  client = await mirror.pool.connect();
});

afterAll(async () => {
  client?.release();
  await mirror?.close();
});

/** Columns that the database has otherwise than the table of exceptions, and those of that table. */
async function differences(tables: typeof MIRROR_TABLES = MIRROR_TABLES): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(
    `select relname || '.' || attname || ' ' || format_type(atttypid, atttypmod)
       || case when attnotnull then ' not null' else '' end as line
     from pg_attribute join pg_class on pg_class.oid = attrelid
     where relnamespace = 'mirror'::regnamespace and relname = any($1)
       and attnum > 0 and not attisdropped`,
    [Object.keys(tables)],
  );
  const found = rows.map(({ line }) => line);
  const expected = Object.entries(tables).flatMap(([table, { columns }]) => [
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

  it.each([
    ['add column extra text', ['database: jobs.extra text']],
    ['drop column vouched', ['mirrorTables: jobs.vouched boolean not null']],
    [
      'alter column attempt type bigint',
      ['database: jobs.attempt bigint not null', 'mirrorTables: jobs.attempt integer not null'],
    ],
  ])('differs from a database after `alter table jobs %s`', async (change, expected) => {
    await client.query('begin');
    await client.query(`alter table mirror.jobs ${change}`);
    const found = await differences();
    await client.query('rollback');
    expect(found).toEqual(expected);
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

describe('a new column of the mirror', () => {
  const copy = ownFolder('svc-column');
  const touched = new Set<string>();

  beforeAll(async () => {
    for (const path of ['package.json', 'common', 'indexer', 'programs/client']) {
      await cp(join(PROJECT_FOLDER, path), join(copy, path), { recursive: true });
    }
    await symlink(join(PROJECT_FOLDER, 'node_modules'), join(copy, 'node_modules'));
    await addFields();
    await writeTouched(
      'indexer/migrations/999999_mirror_priority.sql',
      () => `alter table jobs
        add column priority integer not null default 0, add column refunded_at bigint;`,
    );
    await writeTouched('common/database/mirrorTables.ts', (text) =>
      text.replace(
        '    worker_base_units: BASE_UNITS,\n',
        "    refunded_at: { ...SECONDS, events: { JobRefunded: 'unixTime' } },\n$&",
      ),
    );
  });

  /** What the build of a program writes that has another field in its job, and in the event of a lock. */
  async function addFields(): Promise<void> {
    const path = join(copy, 'programs/client/idl.json');
    const idl = JSON.parse(await readFile(path, 'utf8')) as Interface;
    for (const { name, type } of idl.types) {
      if ((name === 'Job' || name === 'JobLocked') && type.kind === 'struct') {
        type.fields.push({ name: 'priority', type: 'u8' });
      }
    }
    await writeFile(path, JSON.stringify(idl));
  }

  async function writeTouched(path: string, change: (text: string) => string): Promise<void> {
    touched.add(path);
    const text = await readFile(join(copy, path), 'utf8').catch(() => '');
    await writeFile(join(copy, path), change(text));
  }

  const load = (path: string) => import(join(copy, path));

  it('is in schema, folds and expected rows once two files are changed', async () => {
    const tables: typeof import('../../common/database/mirrorTables.ts') = await load(
      'common/database/mirrorTables.ts',
    );
    const folds: typeof import('../../indexer/fold/folds.ts') = await load('indexer/fold/folds.ts');
    const { migrate }: typeof import('../../indexer/sql/migrate.ts') =
      await load('indexer/sql/migrate.ts');
    const pool = new pg.Pool({ connectionString: mirror.databaseUrl });
    await migrate(pool);
    await pool.end();

    const fold = (name: string, data: object) =>
      folds.changesOf({ name, data, signature: '', slot: 1n } as never, addresses);
    expect(await differences(tables.MIRROR_TABLES)).toEqual([]);
    expect(fold('JobLocked', { job: 'a job', jobSequence: 1, priority: 3 })).toMatchObject([
      {},
      { table: 'jobs', values: { priority: 3, refunded_at: null } },
    ]);
    expect(fold('JobRefunded', { job: 'a job', jobSequence: 2, unixTime: '70' })).toMatchObject([
      {},
      { table: 'jobs', values: { refunded_at: '70' } },
    ]);
    expect(tables.accountRow('Job', { ...JOB, priority: 3 } as never)).toMatchObject({
      priority: 3,
    });
    expect(touched.size).toBe(2);
  });
});

/** As much of a Job as is read of one that is running. */
const JOB = {
  ...{ jobId: new Uint8Array(), outputHash: new Uint8Array(), status: 'pending', outcome: 'none' },
  ...{ countedTokens: 0, attempt: 0 },
};
