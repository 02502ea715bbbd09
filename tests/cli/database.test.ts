import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { withDatabase } from '../../cli/database.ts';
import { delay } from '../../runtime/wait.ts';
import { createTestDatabase, execute, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

it('a command outlives a connection that is lost while it does something else', async () => {
  await withDatabase(
    async (pool) => {
      const { rows } = await pool.query('select pg_backend_pid() as id');
      await execute(database.databaseUrl, `select pg_terminate_backend(${rows[0].id})`);
      // An error that nobody hears would end the process by now.
      await delay(200);
      expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    },
    { DATABASE_URL: database.databaseUrl },
  );
});
