import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import type pg from 'pg';
import { listJobs } from '../../api/routes/jobs.ts';
import { selectAccount } from '../../api/sql/accounts.ts';
import { selectUsage } from '../../api/sql/usage.ts';
import { createPool } from '../../common/postgres.ts';
import { deleteOldDeliveries } from '../../indexer/background/expiredRows.ts';
import { compareJournal } from '../../indexer/reconcile/journal.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { startDatabases } from '../databases.ts';
import { percentile } from '../load.ts';
import { fill, type Size } from './fill.ts';

// What reads cost in a database with a long history, beside one with hardly any. Also how many bytes
// a job takes, and how many the deletion of old deliveries frees.

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '1000000' },
    wallets: { type: 'string', default: '10000' },
    webhooks: { type: 'string', default: '100' },
  },
});
const large: Size = {
  jobs: Number(values.jobs),
  wallets: Number(values.wallets),
  webhooks: Number(values.webhooks),
};
/** A wallet of each has as many jobs: what differs is what else there is. */
const small: Size = {
  jobs: Math.round(large.jobs / large.wallets),
  wallets: 1,
  webhooks: 1,
};
const ROUNDS = 300;
const PAGE = 20;
const RATIO_MAX = 2;
const PLAIN = { head: [], border: [] };

interface Filled {
  readonly size: Size;
  readonly pool: pg.Pool;
  readonly wallet: string;
}

const databases = await startDatabases();
const opened: pg.Pool[] = [];
try {
  const few = await open(small);
  const many = await open(large);
  await compareReads(few, many);
  await compareReconciliations(few, many);
  await printSizes(many);
  await printRetention(many);
} finally {
  for (const pool of opened) await pool.end();
  await databases.close();
}

async function open(size: Size): Promise<Filled> {
  const pool = createPool({ databaseUrl: await databases.create(), applicationName: 'bench' });
  opened.push(pool);
  const startMs = performance.now();
  await fill(pool, size);
  const seconds = (performance.now() - startMs) / 1_000;
  console.log(
    `${size.jobs} jobs of ${size.wallets} wallets were stored in ${seconds.toFixed(0)} s`,
  );
  const { rows } = await pool.query<{ wallet: string }>('select wallet from service.webhooks');
  return { size, pool, wallet: rows[0]?.wallet ?? '' };
}

async function compareReads(few: Filled, many: Filled): Promise<void> {
  const reads: readonly (readonly [name: string, read: (of: Filled) => Promise<unknown>])[] = [
    [`list page of ${PAGE} jobs`, list],
    // In second 0 no later day has begun than the account's, whose jobs are read then.
    ['account', ({ pool, wallet }) => selectAccount(pool, { wallet, nowSeconds: 0n })],
    ['usage, 90 days', usage],
  ];
  const head = ['read', 'of few, p50 ms', 'of many, p50 ms', 'ratio'];
  const table = new Table({ head, style: PLAIN });
  for (const [name, read] of reads) {
    const times = new Map<Filled, number[]>([
      [few, []],
      [many, []],
    ]);
    // In turn, so that other load on the machine affects both.
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [of, timesMs] of times) timesMs.push(await measure(() => read(of)));
    }
    const [fewMs = 0, manyMs = 0] = [...times.values()].map((timesMs) => percentile(timesMs, 50));
    table.push([name, fewMs.toFixed(2), manyMs.toFixed(2), ratioOf(manyMs, fewMs)]);
  }
  console.log(table.toString());
}

function ratioOf(many: number, few: number): string {
  const ratio = many / few;
  if (ratio > RATIO_MAX) process.exitCode = 1;
  return ratio.toFixed(2);
}

async function measure(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

function list({ pool, wallet }: Filled): Promise<unknown> {
  /** Every job of the list is in the mirror. */
  const unmirrored = { find: async () => undefined };
  return listJobs({ database: pool, unmirrored }, wallet, { limit: PAGE });
}

function usage({ pool, wallet }: Filled): Promise<unknown> {
  return selectUsage(pool, {
    ...{ wallet, sinceSeconds: 0, untilSeconds: 90 * 86_400, seconds: 86_400 },
    ...{ modelId: undefined, worker: undefined, limit: 1_000 },
  });
}

/** As reconciliation does with every event; a row's time is what must not grow. */
async function compareReconciliations(few: Filled, many: Filled): Promise<void> {
  const perEventUs: number[] = [];
  for (const { pool, size } of [few, many]) {
    const { signal } = new AbortController();
    // The first one reads what the disk has into memory, and is not counted of a few events.
    if (size === small) await compareJournal(pool, createAddresses(), signal);
    const elapsedMs = await measure(async () => {
      const [difference] = await compareJournal(pool, createAddresses(), signal);
      if (difference) throw new Error(`The tables are not the journal: ${difference.address}`);
    });
    const { rows } = await pool.query<{ events: bigint }>(
      'select count(*) as events from mirror.journal',
    );
    perEventUs.push((elapsedMs * 1_000) / Number(rows[0]?.events));
  }
  const [fewUs = 0, manyUs = 0] = perEventUs;
  console.log(
    `Reconciling journal and tables: ${fewUs.toFixed(0)} µs an event of few, ` +
      `${manyUs.toFixed(0)} µs of many, ratio ${ratioOf(manyUs, fewUs)}`,
  );
}

interface TableSize {
  readonly name: string;
  readonly rows: bigint;
  readonly heap: bigint;
  readonly indexes: bigint;
}

async function readSizes(pool: pg.Pool): Promise<TableSize[]> {
  const { rows } = await pool.query<TableSize>(
    `select format('%s.%s', nspname, relname) as name, reltuples::bigint as rows,
       pg_table_size(pg_class.oid) as heap, pg_indexes_size(pg_class.oid) as indexes
     from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where relkind = 'r' and nspname in ('mirror', 'service')
     order by pg_total_relation_size(pg_class.oid) desc limit 8`,
  );
  return rows;
}

async function printSizes({ pool, size }: Filled): Promise<void> {
  const table = new Table({
    head: ['table', 'rows', 'bytes a job', 'of it indexes'],
    style: PLAIN,
  });
  let total = 0;
  for (const { name, rows, heap, indexes } of await readSizes(pool)) {
    const perJob = Number(heap + indexes) / size.jobs;
    if (name.startsWith('mirror.')) total += perJob;
    table.push([name, rows, perJob.toFixed(0), (Number(indexes) / size.jobs).toFixed(0)]);
  }
  console.log(table.toString());
  console.log(`The mirror takes ${total.toFixed(0)} bytes a job`);
}

/** Deliveries are kept for 30 days; jobs and their events for ever. */
async function printRetention({ pool }: Filled): Promise<void> {
  await pool.query(
    `update service.webhook_deliveries
     set status = 'delivered', due_at = null, stored_at = now() - interval '31 days'`,
  );
  await pool.query('vacuum full analyze service.webhook_deliveries');
  const before = await sizeOfDeliveries(pool);
  const elapsedMs = await measure(() => deleteOldDeliveries(pool));
  await pool.query('vacuum analyze service.webhook_deliveries');
  const after = await sizeOfDeliveries(pool);
  console.log(
    `${before.rows} old deliveries took ${(before.bytes / before.rows).toFixed(0)} bytes each. ` +
      `They were deleted in ${(elapsedMs / 1_000).toFixed(1)} s, ` +
      `${((elapsedMs * 1_000) / before.rows).toFixed(0)} µs each; ` +
      `${after.rows} rows and ${after.bytes} bytes are left`,
  );
}

async function sizeOfDeliveries(pool: pg.Pool): Promise<{ rows: number; bytes: number }> {
  const { rows } = await pool.query<{ rows: bigint; bytes: bigint }>(
    `select count(*) as rows, pg_total_relation_size('service.webhook_deliveries') as bytes
     from service.webhook_deliveries`,
  );
  return { rows: Number(rows[0]?.rows), bytes: Number(rows[0]?.bytes) };
}
