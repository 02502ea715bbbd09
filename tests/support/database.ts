import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { delay } from '../../runtime/wait.ts';
import { type EmbeddedDatabase, startDatabase } from '../../stack/database.ts';

/** A database that only one test uses. */
export interface TestDatabase {
  databaseUrl: string;
  /** Drops the database; fails when a test left a connection open. */
  close(): Promise<void>;
}

/** How long a server may take to notice that a process has ended. */
const CLOSING_MS_MAX = 10_000;
const CLOSING_POLL_MS = 50;

/** Started for the first database that is open, and closed with the last. */
let server: Promise<EmbeddedDatabase> | undefined;
let openDatabases = 0;

/**
 * Creates an empty database, on the server that DATABASE_URL names or on one that the test file's
 * open databases share.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  openDatabases += 1;
  const serverUrl = process.env.DATABASE_URL ?? (await openServer()).databaseUrl;
  const name = `svc_test_${randomBytes(8).toString('hex')}`;
  await execute(serverUrl, `create database ${name}`);
  const databaseUrl = new URL(serverUrl);
  databaseUrl.pathname = name;
  return {
    databaseUrl: databaseUrl.href,
    async close() {
      await expectUnused(serverUrl, name);
      await execute(serverUrl, `drop database ${name} with (force)`);
      openDatabases -= 1;
      if (openDatabases > 0) return;
      const last = await server;
      server = undefined;
      await last?.close();
    },
  };
}

function openServer(): Promise<EmbeddedDatabase> {
  server ??= startDatabase();
  return server;
}

/** A pool that a test forgot makes its file fail; a connection that is just closing does not. */
async function expectUnused(serverUrl: string, name: string): Promise<void> {
  const deadline = performance.now() + CLOSING_MS_MAX;
  for (;;) {
    const sessions = await execute(
      serverUrl,
      `select application_name, state, query, now() - query_start as since
       from pg_stat_activity where datname = '${name}' and backend_type = 'client backend'`,
    );
    if (sessions.length === 0) return;
    if (performance.now() > deadline) {
      throw new Error(`Still connected to the test's database: ${JSON.stringify(sessions)}`);
    }
    await delay(CLOSING_POLL_MS);
  }
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
