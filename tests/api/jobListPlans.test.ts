import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { listJobs } from '../../api/routes/jobs.ts';
import type { Database } from '../../common/postgres.ts';
import {
  insertMirroredJobs,
  type JobListing,
  jobsOf,
  listingsOf,
} from '../../testing/database/jobListings.ts';
import { explain, type Readings } from '../../testing/database/plans.ts';
import { openPooledDatabase, type PooledDatabase } from '../../testing/database/pooledDatabase.ts';

const JOBS = 20_000;
/** Too many to be remembered one by one: the statistics give the average for each. */
const QUIET_WALLETS = 1_000;
const JOBS_OF_QUIET_WALLET = 15;
const LIMIT = 20;
/** One for each row of the page, one more that shows whether others follow, and the way down the indexes. */
const BLOCKS_MAX = LIMIT + 1 + 15;

let database: PooledDatabase;
let pool: pg.Pool;
let client: pg.PoolClient;

beforeAll(async () => {
  database = await openPooledDatabase();
  pool = database.pool;
  client = await pool.connect();
  // When statistics are taken is each test's to say.
  await pool.query('alter table mirror.jobs set (autovacuum_enabled = false)');
});

afterAll(async () => {
  client?.release();
  await database?.close();
});

/**
 * The database, asked for the plan of each statement before it is run. One with a name may come to
 * be planned once for all values, so that is the plan it is judged by.
 */
function explaining(readings: Readings): Database {
  const query = async (statement: { name?: string; text: string; values: unknown[] }) => {
    const { name, text, values } = statement;
    await client.query(`set plan_cache_mode = ${name ? 'force_generic_plan' : 'auto'}`);
    await client.query(`prepare listing as ${text}`);
    const literals = values.map((value) =>
      value === undefined ? 'null' : client.escapeLiteral(String(value)),
    );
    await explain(client, readings, `execute listing (${literals.join()})`);
    await client.query('deallocate listing');
    return client.query({ text, values });
  };
  return { query } as unknown as Database;
}

async function expectBounded({ query, rows }: JobListing): Promise<void> {
  const readings: Readings = { blocks: 0, rowsRemovedMax: 0 };
  const services = {
    database: explaining(readings),
    unmirrored: { find: async () => undefined },
  };
  const { rows: listed } = await listJobs(services, 'busy', { limit: LIMIT, ...query });
  expect(listed).toHaveLength(rows);
  expect(readings.rowsRemovedMax).toBe(0);
  expect(readings.blocks).toBeLessThanOrEqual(BLOCKS_MAX);
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
