import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { withDatabase } from '../../cli/operators/database.ts';
import { CommandError } from '../../cli/terminal/output.ts';
import { createTestDatabase, execute, type TestDatabase } from '../../testing/database/database.ts';
import { until } from '../../testing/until.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

it('a command survives a lost idle connection', async () => {
  await withDatabase(
    async (pool) => {
      const { rows } = await pool.query('select pg_backend_pid() as id');
      await execute(database.databaseUrl, `select pg_terminate_backend(${rows[0].id})`);
      // An error without a listener would end the process.
      await until(async () => pool.totalCount === 0);
      expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    },
    { DATABASE_URL: database.databaseUrl },
  );
});

/** What a command says that asks the database of that address. */
async function refusalOf(change: (url: URL) => void, statement = 'select 1'): Promise<unknown> {
  const url = new URL(database.databaseUrl);
  change(url);
  return withDatabase(async (pool) => void (await pool.query(statement)), {
    DATABASE_URL: url.href,
  }).catch((error: unknown) => error);
}

it.each<[string, (url: URL) => void, string, string]>([
  [
    'a wrong password',
    (url) => {
      url.password = 'a-secret';
    },
    'select 1',
    'refuses: password authentication failed',
  ],
  [
    'a read-only database',
    (url) => url.searchParams.set('options', '-c default_transaction_read_only=on'),
    'create table fresh ()',
    'cannot be used now: cannot execute CREATE TABLE',
  ],
])('%s is one sentence, without the password', async (_what, change, statement, sentence) => {
  const refusal = await refusalOf(change, statement);
  expect(refusal).toBeInstanceOf(CommandError);
  expect(String(refusal)).toContain(sentence);
  expect(String(refusal)).not.toContain('a-secret');
});

it('an error in the command itself is reported in full', async () => {
  const refusal = await refusalOf(() => undefined, 'selekt 1');

  expect(refusal).not.toBeInstanceOf(CommandError);
  expect(refusal).toHaveProperty('code', '42601');
});
