import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { type EmbeddedDatabase, startDatabase } from '../../stack/database.ts';

/** A database that only one test file uses. */
export interface TestDatabase {
  databaseUrl: string;
  /** Drops the database; fails when a test left a connection open. */
  close(): Promise<void>;
}

/**
 * Creates an empty database on the server that DATABASE_URL names, or on one started for this test
 * file.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server: EmbeddedDatabase = process.env.DATABASE_URL
    ? { databaseUrl: process.env.DATABASE_URL, close: async () => {} }
    : await startDatabase();
  const name = `svc_test_${randomBytes(8).toString('hex')}`;
  await execute(server.databaseUrl, `create database ${name}`);
  const databaseUrl = new URL(server.databaseUrl);
  databaseUrl.pathname = name;
  return {
    databaseUrl: databaseUrl.href,
    async close() {
      // Without `with (force)`: a pool that a test forgot makes this fail.
      await execute(server.databaseUrl, `drop database ${name}`);
      await server.close();
    },
  };
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
