import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { assertOwnSessions } from '../../common/net/databaseSession.ts';
import { createPool } from '../../common/postgres.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/database/database.ts';
import { startTransactionPooler } from './transactionPooler.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

async function tryAt(databaseUrl: string): Promise<void> {
  const pool = createPool({ databaseUrl, applicationName: 'test', max: 2 });
  try {
    await assertOwnSessions(pool);
  } finally {
    await pool.end();
  }
}

describe('the sessions of a database', () => {
  it("are a process's own on the database itself", async () => {
    await tryAt(database.databaseUrl);
  });

  it.each([
    ['the last one that was free', 1, 'last'],
    ['the last one of many that was free', 4, 'last'],
    ['one after the other of few', 2, 'first'],
    ['one after the other of three', 3, 'first'],
    ['one after the other of five', 5, 'first'],
  ] as const)(
    'are none behind a pooler that lends each transaction %s',
    async (_which, servers, takes) => {
      const pooler = await startTransactionPooler(database.databaseUrl, { servers, takes });
      try {
        await expect(tryAt(pooler.databaseUrl)).rejects.toThrow(
          'DATABASE_URL: leads to a pooler in transaction mode, which keeps no session; name the',
        );
      } finally {
        await pooler.close();
      }
    },
  );
});
