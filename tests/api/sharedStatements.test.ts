import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { selectKeysAndAccounts } from '../../api/sql/accounts.ts';
import { selectJobsProgress } from '../../api/sql/jobs.ts';
import { claimRequests, expireRequests, storeAnswers } from '../../api/sql/requests.ts';
import { createPool, type Database } from '../../common/postgres.ts';
import { type KeyedDatabase, openKeyedDatabase } from './keyedDatabase.ts';

const request = {
  ...{ keySha256: 'hash', wallet: 'wallet', jobId: 'job', lifetimeSeconds: 1 },
  ...{ requestKey: Buffer.of(1), bodyHmac: Buffer.of(2), sealed: Buffer.of(3) },
};
const shared: Record<string, (database: Database) => Promise<unknown>> = {
  'reads keys and balances': (database) => selectKeysAndAccounts(database, ['hash']),
  'claims requests': (database) => claimRequests(database, [request]),
  'keeps answers': (database) => storeAnswers(database, [request]),
  'notes deliveries': (database) => expireRequests(database, [request]),
  'reads how jobs stand': (database) => selectJobsProgress(database, ['address']),
};

let database: KeyedDatabase;

beforeAll(async () => {
  database = await openKeyedDatabase();
});

afterAll(() => database.close());

async function textOf(run: (database: Database) => Promise<unknown>): Promise<string> {
  let text = '';
  const query = async (statement: { text: string }) => {
    text = statement.text;
    return { rows: [] };
  };
  await run({ query } as unknown as Database);
  return text;
}

describe('the statement that', () => {
  // A connection keeps its plans, and those are often made while there is next to nothing.
  it.each(Object.entries(shared))('%s scans no table', async (_title, run) => {
    const { rows } = await database.pool.query<{ 'QUERY PLAN': string }>(
      `explain (generic_plan) ${await textOf(run)}`,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).not.toMatch('Seq Scan');
    expect(plan).toMatch('Function Scan on');
  });
});

describe('a pool that plans once', () => {
  it('does not plan a shared statement again, however few its items are', async () => {
    const planned = createPool({
      ...{ databaseUrl: database.databaseUrl, applicationName: 'test', max: 1 },
      plansOnce: true,
    });
    for (let time = 0; time < 20; time += 1) {
      await claimRequests(planned, [{ ...request, jobId: `job ${time}` }]);
    }
    const { rows } = await planned.query(
      `select generic_plans, custom_plans from pg_prepared_statements where name = 'claim_requests'`,
    );
    await planned.end();
    expect(rows).toEqual([{ generic_plans: 20n, custom_plans: 0n }]);
  });
});
