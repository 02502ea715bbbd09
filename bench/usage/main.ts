import Table from 'cli-table3';
import type pg from 'pg';
import { selectFirstHour, selectJobCounts, selectUsage } from '../../api/sql/usage.ts';
import { createPool } from '../../common/postgres.ts';
import { migrate } from '../../indexer/sql/migrate.ts';
import { startDatabases } from '../databases.ts';
import { percentile } from '../load.ts';

// What the web app's usage and its histogram of jobs cost for a wallet with a million jobs, beside
// one with a hundred. JOBS=<n> makes another number of them.

const FEW = 100;
const MANY = Number(process.env.JOBS ?? 1_000_000);
const DAYS = 90;
const MODELS = 5;
const WORKERS = 8;
const ROUNDS = 20;
const P50_MS_MAX = 200;
const DAY_SECONDS = 86_400;
const END_SECONDS = 20_000 * DAY_SECONDS;
const ROWS_AT_ONCE = 100_000;

/** What the pages ask for. */
const READS: readonly (readonly [name: string, read: (wallet: string) => Promise<unknown>])[] = [
  ['usage by day, 90 days', (wallet) => usage(wallet, DAYS, DAY_SECONDS)],
  ['usage by day, 30 days', (wallet) => usage(wallet, 30, DAY_SECONDS)],
  ['usage by hour, 24 hours', (wallet) => usage(wallet, 1, 3_600)],
  ['usage by day of one model, 90 days', (wallet) => usage(wallet, DAYS, DAY_SECONDS, 'model-1')],
  ['histogram of every job', (wallet) => counts(wallet)],
  ['histogram of one model', (wallet) => counts(wallet, 'model-1')],
];

const databases = await startDatabases();
const pool = createPool({ databaseUrl: await databases.create(), applicationName: 'bench' });
try {
  await migrate(pool);
  await insertJobs(pool, 'few', FEW);
  await insertJobs(pool, 'many', MANY);
  await pool.query('vacuum analyze mirror.jobs');
  await pool.query('vacuum analyze mirror.usage_hours');
  await compare();
} finally {
  await pool.end();
  await databases.close();
}

/** Spread over the days by a step that has no part in them, each with a model and a worker. */
async function insertJobs(database: pg.Pool, wallet: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += ROWS_AT_ONCE) {
    await database.query(
      `insert into mirror.jobs (
         address, job_id, credit_account, wallet, controller, model, model_id, tier, status, attempt,
         token_limit, credits_per_request, credits_per_1k_tokens, long_completion_threshold_tokens,
         treasury_share_basis_points, slash_tokens, job_timeout_seconds, dispute_window_seconds,
         arbitration_window_seconds, rent_payer, locked_credits, charged_credits, locked_at,
         escrow_tx, escrow_slot, closed, sequence, worker, prompt_tokens, completion_tokens,
         counted_tokens)
       select $1 || place, 'job_' || place, 'account', $1, 'controller', 'model',
         'model-' || place % $5, 'lite',
         case when place % 50 = 0 then 'failed' else 'settled' end, 1, 2000, 2, 1, 500, 1500, 500,
         120, 60, 86400, 'payer', 2, 2, $4::bigint - (place * 7919) % ($6::bigint * 86400) - 1,
         'signature', 1, true, 1, 'worker-' || (place / $5) % $7, 20, 300, 300
       from generate_series($2::bigint, $3::bigint - 1) place`,
      [wallet, from, Math.min(count, from + ROWS_AT_ONCE), END_SECONDS, MODELS, DAYS, WORKERS],
    );
  }
}

async function compare(): Promise<void> {
  const [few, many] = [FEW, MANY].map((count) => count.toLocaleString('en-US'));
  const head = ['of jobs', `of ${few}, p50 ms`, `of ${many}, p50 ms`, 'p95 ms', 'goal, ms'];
  const table = new Table({ head, style: { head: [], border: [] } });
  for (const [name, read] of READS) {
    const times: Record<'few' | 'many', number[]> = { few: [], many: [] };
    // In turn, so that other load on the machine affects both.
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const wallet of ['few', 'many'] as const) {
        const startMs = performance.now();
        await read(wallet);
        times[wallet].push(performance.now() - startMs);
      }
    }
    const p50 = percentile(times.many, 50);
    table.push([
      name,
      percentile(times.few, 50).toFixed(1),
      p50.toFixed(1),
      percentile(times.many, 95).toFixed(1),
      P50_MS_MAX,
    ]);
    if (p50 > P50_MS_MAX) process.exitCode = 1;
  }
  console.log(table.toString());
}

function usage(wallet: string, days: number, seconds: number, modelId?: string): Promise<unknown> {
  return selectUsage(pool, {
    wallet,
    sinceSeconds: END_SECONDS - days * DAY_SECONDS,
    untilSeconds: END_SECONDS,
    seconds,
    modelId,
    worker: undefined,
    limit: 10_001,
  });
}

async function counts(wallet: string, modelId?: string): Promise<unknown> {
  const sinceSeconds = (await selectFirstHour(pool, wallet)) ?? 0;
  return selectJobCounts(pool, {
    wallet,
    sinceSeconds,
    untilSeconds: END_SECONDS,
    bucketSeconds: DAY_SECONDS,
    modelId,
  });
}
