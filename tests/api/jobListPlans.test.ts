import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { listJobs } from '../../api/jobs/jobList.ts';
import { createPool, type Database } from '../../common/postgres.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/database/database.ts';
import {
  insertMirroredJobs,
  type JobListing,
  jobsOf,
  listingsOf,
} from '../../testing/database/jobListings.ts';

const JOBS = 20_000;
/** Too many to be remembered one by one: the statistics give the average for each. */
const QUIET_WALLETS = 1_000;
const JOBS_OF_QUIET_WALLET = 15;
const LIMIT = 20;
/** One for each row of the page, one more that shows whether others follow, and the way down the indexes. */
const BLOCKS_MAX = LIMIT + 1 + 15;

let database: TestDatabase;
let pool: pg.Pool;
let client: pg.PoolClient;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool({ databaseUrl: database.databaseUrl, applicationName: 'test' });
  client = await pool.connect();
  // When statistics are taken is each test's to say.
  await pool.query('alter table mirror.jobs set (autovacuum_enabled = false)');
});

afterAll(async () => {
  client?.release();
  await pool?.end();
  await database?.close();
});

interface PlanNode {
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

/**
 * The database, asked for the plan of each statement before it is run. One with a name may come to
 * be planned once for all values, so that is the plan it is judged by.
 */
function explaining(client: pg.PoolClient, plans: PlanNode[]): Database {
  const query = async (statement: { name?: string; text: string; values: unknown[] }) => {
    const { name, text, values } = statement;
    await client.query(`set plan_cache_mode = ${name ? 'force_generic_plan' : 'auto'}`);
    await client.query(`prepare listing as ${text}`);
    const literals = values.map((value) =>
      value === undefined ? 'null' : client.escapeLiteral(String(value)),
    );
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (analyze, buffers, format json) execute listing (${literals.join()})`,
    );
    await client.query('deallocate listing');
    plans.push(...rows.map((row) => row['QUERY PLAN'][0].Plan));
    return client.query({ text, values });
  };
  return { query } as unknown as Database;
}

const withChildren = (node: PlanNode): PlanNode[] => [
  node,
  ...(node.Plans ?? []).flatMap(withChildren),
];

async function expectBounded({ query, rows }: JobListing): Promise<void> {
  const plans: PlanNode[] = [];
  const services = {
    database: explaining(client, plans),
    unmirrored: { find: async () => undefined },
  };
  const { data } = await listJobs(services, 'busy', { limit: LIMIT, ...query });
  expect(data).toHaveLength(rows);
  const nodes = plans.flatMap(withChildren);
  expect(nodes.filter((node) => node['Rows Removed by Filter'])).toEqual([]);
  const blocks = plans.map((plan) => plan['Shared Hit Blocks'] + plan['Shared Read Blocks']);
  expect(blocks.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(BLOCKS_MAX);
}

const insertQuietWallets = () =>
  insertMirroredJobs(
    pool,
    Array.from({ length: QUIET_WALLETS }, (_, wallet) =>
      jobsOf(`quiet ${wallet}`, JOBS_OF_QUIET_WALLET),
    ).flat(),
  );
const insertBusyWallet = () => insertMirroredJobs(pool, jobsOf('busy', JOBS));
const takeStatistics = () => pool.query('analyze mirror.jobs');

describe.each([
  ['never taken', [insertQuietWallets, insertBusyWallet]],
  ['from before the wallet came', [insertQuietWallets, takeStatistics, insertBusyWallet]],
  ['of today', [insertQuietWallets, insertBusyWallet, takeStatistics]],
])(`a page of a wallet with ${JOBS} jobs, with statistics %s,`, (_statistics, steps) => {
  beforeAll(async () => {
    await pool.query('truncate mirror.jobs');
    for (const step of steps) await step();
  });

  it.each(listingsOf(JOBS))('reads only the rows that it shows: $name', expectBounded);
});
