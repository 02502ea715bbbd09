import Table from 'cli-table3';
import { listJobs } from '../../api/routes/jobs.ts';
import { createPool } from '../../common/postgres.ts';
import { migrate } from '../../indexer/sql/migrate.ts';
import {
  insertMirroredJobs,
  type JobListing,
  jobsOf,
  listingsOf,
} from '../../testing/database/jobListings.ts';
import { startDatabases } from '../databases.ts';
import { percentile } from '../load.ts';

// Compares a page of a wallet with many jobs to the same page of a wallet with few, for each kind of
// cursor and filter. The result is the ratio within one run.

const FEW = 100;
const MANY = 100_000;
const LIMIT = 20;
const ROUNDS = 300;
const RATIO_MAX = 2;

const databases = await startDatabases();
const databaseUrl = await databases.create();
const pool = createPool({ databaseUrl, applicationName: 'bench' });
/** Every job of the list is in the mirror. */
const services = { database: pool, unmirrored: { find: async () => undefined } };
try {
  await migrate(pool);
  await insertMirroredJobs(pool, jobsOf('few', FEW));
  await insertMirroredJobs(pool, jobsOf('many', MANY));
  await pool.query('vacuum analyze mirror.jobs');
  await compare();
} finally {
  await pool.end();
  await databases.close();
}

async function compare(): Promise<void> {
  const head = [`${LIMIT} jobs a page`, `of ${FEW}, p50 ms`, `of ${MANY}, p50 ms`, 'ratio'];
  const table = new Table({ head, style: { head: [], border: [] } });
  const listings = listingsOf(FEW);
  for (const [index, { name, query }] of listingsOf(MANY).entries()) {
    const listing = listings[index] as JobListing;
    const few: number[] = [];
    const many: number[] = [];
    // In turn, so that other load on the machine affects both.
    for (let round = 0; round < ROUNDS; round += 1) {
      few.push(await measure('few', listing.query));
      many.push(await measure('many', query));
    }
    const [fewMs, manyMs] = [percentile(few, 50), percentile(many, 50)];
    const ratio = manyMs / fewMs;
    table.push([name, fewMs.toFixed(2), manyMs.toFixed(2), ratio.toFixed(2)]);
    if (ratio > RATIO_MAX) process.exitCode = 1;
  }
  console.log(table.toString());
}

async function measure(wallet: string, query: JobListing['query']): Promise<number> {
  const startMs = performance.now();
  await listJobs(services, wallet, { limit: LIMIT, ...query });
  return performance.now() - startMs;
}
