import type pg from 'pg';
import { type Database, inTransaction } from '../../common/postgres.ts';

export interface UsageRow {
  /** Ledger seconds. */
  start: bigint;
  model_id: string;
  /** Empty for jobs that no worker took. */
  worker: string;
  jobs: bigint;
  settled: bigint;
  failed: bigint;
  refunded: bigint;
  charged_credits: bigint;
  long_jobs: bigint;
  long_credits: bigint;
  prompt_tokens: bigint;
  completion_tokens: bigint;
}

/** Months of hours are added up in memory; in the usual 4 MB they would be sorted on disk. */
const WORK_MEMORY = '64MB';

/** Oldest first. @param filter.seconds of an hour or a day */
export function selectUsage(
  pool: pg.Pool,
  filter: {
    wallet: string;
    sinceSeconds: number;
    untilSeconds: number;
    seconds: number;
    modelId: string | undefined;
    worker: string | undefined;
    limit: number;
  },
): Promise<UsageRow[]> {
  const { wallet, sinceSeconds, untilSeconds, seconds, modelId, worker, limit } = filter;
  return inTransaction(pool, async (client) => {
    await client.query(`set local work_mem = '${WORK_MEMORY}'`);
    const { rows } = await client.query<UsageRow>(
      `select hour - hour % $4::bigint as start, model_id, worker, sum(jobs) as jobs,
       sum(settled) as settled, sum(failed) as failed, sum(refunded) as refunded,
       sum(charged_credits) as charged_credits, sum(long_jobs) as long_jobs,
       sum(long_credits) as long_credits, sum(prompt_tokens) as prompt_tokens,
       sum(completion_tokens) as completion_tokens
     from mirror.usage_hours
     where wallet = $1 and hour >= $2 and hour < $3
       and ($5::text is null or model_id = $5) and ($6::text is null or worker = $6)
     group by 1, 2, 3 order by 1, 2, 3 limit $7`,
      [wallet, sinceSeconds, untilSeconds, seconds, modelId ?? null, worker ?? null, limit],
    );
    return rows;
  });
}

/** @returns ledger seconds of the first hour in which a wallet locked a job; undefined without any */
export async function selectFirstHour(
  database: Database,
  wallet: string,
): Promise<number | undefined> {
  const { rows } = await database.query<{ hour: bigint }>(
    'select hour from mirror.usage_hours where wallet = $1 order by hour limit 1',
    [wallet],
  );
  return rows[0] && Number(rows[0].hour);
}

interface JobCountRow {
  /** Ledger seconds. */
  start: bigint;
  settled: bigint;
  failed: bigint;
  refunded: bigint;
  unfinished: bigint;
}

/** By buckets of whole hours, oldest first. It reads hours, so that it costs the same for any number of jobs. */
export async function selectJobCounts(
  database: Database,
  filter: {
    wallet: string;
    sinceSeconds: number;
    untilSeconds: number;
    bucketSeconds: number;
    modelId: string | undefined;
  },
): Promise<JobCountRow[]> {
  const { wallet, sinceSeconds, untilSeconds, bucketSeconds, modelId } = filter;
  const { rows } = await database.query<JobCountRow>(
    `select hour - hour % $4::bigint as start, sum(settled) as settled, sum(failed) as failed,
       sum(refunded) as refunded, sum(jobs - settled - failed - refunded) as unfinished
     from mirror.usage_hours
     where wallet = $1 and hour >= $2 and hour < $3 and ($5::text is null or model_id = $5)
     group by 1 order by 1`,
    [wallet, sinceSeconds, untilSeconds, bucketSeconds, modelId ?? null],
  );
  return rows;
}

type Percentile = 'lock_p50' | 'lock_p95' | 'first_p50' | 'first_p95' | 'worker_p50' | 'worker_p95';

/** Milliseconds over a model's jobs; null where none of them has any. */
export type LatencyRow = { model_id: string; jobs: number } & Record<Percentile, number | null>;

export async function selectLatencies(
  database: Database,
  filter: { wallet: string; since: Date; until: Date },
): Promise<LatencyRow[]> {
  const percentile = (share: number, column: string) =>
    `percentile_disc(${share}) within group (order by ${column})`;
  const { rows } = await database.query<LatencyRow>(
    `select model_id, count(*)::integer as jobs,
       ${percentile(0.5, 'lock_ms')} as lock_p50, ${percentile(0.95, 'lock_ms')} as lock_p95,
       ${percentile(0.5, 'first_token_ms')} as first_p50,
       ${percentile(0.95, 'first_token_ms')} as first_p95,
       ${percentile(0.5, 'worker_ms')} as worker_p50, ${percentile(0.95, 'worker_ms')} as worker_p95
     from service.job_timings
     where wallet = $1 and measured_at >= $2 and measured_at < $3
     group by model_id order by model_id`,
    [filter.wallet, filter.since, filter.until],
  );
  return rows;
}
