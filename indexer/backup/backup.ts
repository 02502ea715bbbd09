import { once } from 'node:events';
import { createReadStream, existsSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import pg from 'pg';
import copyStreams from 'pg-copy-streams';
import { z } from 'zod';
import { connectionOf } from '../../common/database/connection.ts';
import { createPool, type Database, inTransaction } from '../../common/postgres.ts';
import { migrate } from '../sql/migrate.ts';
import { type BoundLedger, insertLedger, selectLedger } from '../sql/progress.ts';
import { MIRROR_SCHEMA } from '../sql/schema.ts';

/*
 * A backup of the schema `service`: compressed lines of text. The first line says what it is. Then
 * each table has a line with its name and columns, its rows in COPY's text form, and `\.`. The last
 * line counts all rows, so that a file that was cut off is found.
 */

const FORMAT = 1;
const END_OF_ROWS = '\\.';

const headSchema = z.object({
  format: z.literal(FORMAT),
  createdAt: z.string(),
  migrations: z.array(z.number()),
  /** The ledger of its jobs: missing in older files, and before an indexer's first start. */
  ledger: z.object({ genesisHash: z.string(), programId: z.string() }).optional(),
});
type Head = z.infer<typeof headSchema>;
const tableSchema = z.object({ table: z.string(), columns: z.array(z.string()) });
const endSchema = z.object({ rows: z.number() });

/** A file that is no whole backup, or a database that cannot take it. The message is a sentence. */
export class BackupError extends Error {
  override name = 'BackupError';
}

/** What a backup holds. */
interface BackupSummary {
  tables: number;
  rows: number;
}

/**
 * Writes the schema `service` as it is at one moment, beside the running processes. The file gets
 * its name once it is whole, and a backup that fails leaves none.
 *
 * @throws BackupError when there is a file of that name already, or it cannot be written
 */
export async function writeBackup(databaseUrl: string, path: string): Promise<BackupSummary> {
  refuseExisting(path);
  const client = await connect(databaseUrl);
  const partial = `${path}.partial`;
  try {
    const file = await openPartial(partial);
    try {
      const summary = { tables: 0, rows: 0 };
      // Each of the streams reports the fault of the one that fails first.
      let fault: unknown;
      const lines = Readable.from(readService(client, summary)).on('error', (error) => {
        fault ??= error;
      });
      const out = file.createWriteStream().on('error', ({ code }: NodeJS.ErrnoException) => {
        fault ??= new BackupError(`${path} cannot be written (${code})`);
      });
      await pipeline(lines, createGzip(), out).catch((error: unknown) => {
        throw fault ?? error;
      });
      // Only one backup at a time has this partial file, so none comes between.
      refuseExisting(path);
      await rename(partial, path);
      return summary;
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
  } finally {
    await client.end();
  }
}

function refuseExisting(path: string): void {
  if (!existsSync(path)) return;
  throw new BackupError(`${path} is there already: name another file, or move this one away`);
}

/** @throws BackupError when another backup to the same file runs, or one was killed */
async function openPartial(partial: string): Promise<FileHandle> {
  try {
    return await open(partial, 'wx', 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new BackupError(
      code === 'EEXIST'
        ? `${partial} is there already: another backup writes it, or a killed one left it. Delete it then`
        : `${partial} cannot be written (${code})`,
    );
  }
}

/** All lines of a backup. @param summary counts what was read */
async function* readService(
  client: pg.Client,
  summary: BackupSummary,
): AsyncGenerator<string | Buffer> {
  await client.query('begin isolation level repeatable read read only');
  const { rows: applied } = await client.query<{ id: number }>(
    'select id from service.migrations order by id',
  );
  const tables = await listServiceTables(client);
  const migrations = applied.map(({ id }) => id);
  const createdAt = new Date().toISOString();
  await client.query(`set local search_path = ${MIRROR_SCHEMA}`);
  const ledger = await selectLedger(client);
  yield `${JSON.stringify({ format: FORMAT, createdAt, migrations, ledger })}\n`;
  for (const { name, columns } of tables) {
    yield `${JSON.stringify({ table: name, columns })}\n`;
    const copy = client.query(copyStreams.to(`copy ${name} (${columns.join(', ')}) to stdout`));
    yield* copy;
    summary.tables += 1;
    summary.rows += copy.rowCount;
    yield `${END_OF_ROWS}\n`;
  }
  yield `${JSON.stringify({ rows: summary.rows })}\n`;
}

/**
 * Fills an empty database. It makes the tables of the release that wrote the backup, fills them in
 * one database transaction, and migrates them to this release. It also records the backup's ledger,
 * so that an indexer of another ledger or program refuses the database.
 *
 * @param ledger the one that the backup must speak of; by default any
 * @throws BackupError when the file is damaged or speaks of another ledger, or the database has a
 *   schema `service` already
 */
export async function restoreBackup(
  databaseUrl: string,
  path: string,
  ledger?: BoundLedger,
): Promise<BackupSummary> {
  const lines = readLines(path);
  const head = parseLine(headSchema, await nextLine(lines), path);
  if (ledger) requireLedger(head, ledger, path);
  const pool = createPool({ databaseUrl, applicationName: 'svc-restore', max: 1 });
  try {
    await requireEmpty(pool);
    await migrate(pool, { only: new Set(head.migrations) });
    const summary = await fill(databaseUrl, lines, path);
    await migrate(pool);
    const { ledger: spokenOf } = head;
    if (spokenOf) await inTransaction(pool, (client) => bind(client, spokenOf));
    return summary;
  } finally {
    await pool.end();
  }
}

function requireLedger({ ledger: spokenOf }: Head, ledger: BoundLedger, path: string): void {
  const name = ({ programId, genesisHash }: BoundLedger): string =>
    `program ${programId} on the ledger with genesis hash ${genesisHash}`;
  if (!spokenOf) {
    throw new BackupError(`${path} names no ledger to compare: --offline restores it all the same`);
  }
  if (name(spokenOf) === name(ledger)) return;
  throw new BackupError(
    `${path} is a backup of ${name(spokenOf)}, but the settings name ${name(ledger)}`,
  );
}

async function bind(client: Database, ledger: BoundLedger): Promise<void> {
  await client.query(`set local search_path = ${MIRROR_SCHEMA}`);
  await insertLedger(client, ledger);
}

async function requireEmpty(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query("select from pg_namespace where nspname = 'service'");
  if (rows.length === 0) return;
  throw new BackupError('The database has a schema service already: restore into an empty one');
}

async function fill(
  databaseUrl: string,
  lines: AsyncIterator<string>,
  path: string,
): Promise<BackupSummary> {
  const client = await connect(databaseUrl);
  try {
    await client.query('begin');
    const tables = new Map((await listServiceTables(client)).map((table) => [table.name, table]));
    const summary = { tables: 0, rows: 0 };
    for (;;) {
      const line = await nextLine(lines);
      const end = endSchema.safeParse(parseJson(line, path));
      if (end.success) {
        if (end.data.rows !== summary.rows) throw damaged(path);
        break;
      }
      const { table: name, columns } = parseLine(tableSchema, line, path);
      const table = tables.get(name);
      if (!table) throw damaged(path);
      summary.rows += await fillTable(client, table, columns, lines);
      summary.tables += 1;
    }
    await client.query('commit');
    return summary;
  } finally {
    await client.end();
  }
}

/** @returns how many rows it got */
async function fillTable(
  client: pg.Client,
  { name, identityColumn }: ServiceTable,
  columns: readonly string[],
  lines: AsyncIterator<string>,
): Promise<number> {
  const copy = client.query(copyStreams.from(`copy ${name} (${columns.join(', ')}) from stdin`));
  // Also emitted when a damaged file ends the connection, and then nothing awaits the copy.
  copy.on('error', () => undefined);
  for (let line = await nextLine(lines); line !== END_OF_ROWS; line = await nextLine(lines)) {
    if (!copy.write(`${line}\n`)) await once(copy, 'drain');
  }
  copy.end();
  await finished(copy);
  if (identityColumn) {
    await client.query(
      `select setval(pg_get_serial_sequence($1, $2), max(${identityColumn})) from ${name}`,
      [name, identityColumn],
    );
  }
  return copy.rowCount;
}

/** @throws BackupError when the file is not compressed, or was cut off within a block */
async function* readLines(path: string): AsyncGenerator<string> {
  const unzipped = createReadStream(path).pipe(createGunzip());
  let rest = '';
  try {
    for await (const chunk of unzipped.setEncoding('utf8')) {
      const lines = `${rest}${chunk}`.split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } catch {
    throw damaged(path);
  }
}

async function nextLine(lines: AsyncIterator<string>): Promise<string> {
  const { value, done } = await lines.next();
  if (done) throw new BackupError('The backup ends too early: it was cut off');
  return value;
}

function parseJson(line: string, path: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw damaged(path);
  }
}

function parseLine<Schema extends z.ZodType>(
  schema: Schema,
  line: string,
  path: string,
): z.infer<Schema> {
  const parsed = schema.safeParse(parseJson(line, path));
  if (parsed.success) return parsed.data;
  throw damaged(path);
}

function damaged(path: string): BackupError {
  return new BackupError(`${path} is no backup of this service, or is damaged`);
}

/** COPY needs a connection of its own, without the pool's pipeline. */
async function connect(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({
    ...connectionOf(databaseUrl),
    application_name: 'svc-backup',
  });
  await client.connect();
  return client;
}

/** A table of the schema `service`, with the columns that a backup holds. */
interface ServiceTable {
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
