import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { type EmbeddedDatabase, startDatabase } from '../../stack/database.ts';

/** A database that only one test uses. */
export interface TestDatabase {
  databaseUrl: string;
  /** Drops the database; fails when a test left a connection open. */
  close(): Promise<void>;
}

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
      // Without `with (force)`: a pool that a test forgot makes this fail.
      await execute(serverUrl, `drop database ${name}`);
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

async function execute(databaseUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
