import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { selectKeysAndAccounts } from '../../api/sql/accounts.ts';
import { selectJobsProgress } from '../../api/sql/jobs.ts';
import {
  claimRequest,
  claimRequests,
  expireRequests,
  storeAnswer,
  storeAnswers,
} from '../../api/sql/requests.ts';
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
const alone: typeof shared = {
  'keeps one answer': (database) => storeAnswer(database, request),
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
  it.each([
    ...Object.entries(shared).map(([title, run]) => [title, run, 'Function Scan on'] as const),
    ...Object.entries(alone).map(([title, run]) => [title, run, 'Index Scan'] as const),
  ])('%s scans no table', async (_title, run, scan) => {
    const { rows } = await database.pool.query<{ 'QUERY PLAN': string }>(
      `explain (generic_plan) ${await textOf(run)}`,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).not.toMatch('Seq Scan');
    expect(plan).toMatch(scan);
  });
});

describe('a pool that plans once', () => {
  it.each([
    ['claim_request', claimRequest],
    ['claim_requests', (pool: Database, one: typeof request) => claimRequests(pool, [one])],
  ])('does not plan %s again, however few its items are', async (name, run) => {
    const planned = createPool({
      ...{ databaseUrl: database.databaseUrl, applicationName: 'test', max: 1 },
      plansOnce: true,
    });
    for (let time = 0; time < 20; time += 1) {
      await run(planned, { ...request, jobId: `${name} ${time}` });
    }
    const { rows } = await planned.query(
      'select generic_plans, custom_plans from pg_prepared_statements where name = $1',
      [name],
    );
    await planned.end();
    expect(rows).toEqual([{ generic_plans: 20n, custom_plans: 0n }]);
  });
});
