import type pg from 'pg';
import { creditsNumber, isoTime } from '../../common/format.ts';
import { ApiError } from '../contracts/errors.ts';
import type {
  JobCountAnswer,
  LatencyAnswer,
  UsageAnswer,
  usageRoutes,
} from '../contracts/usage.ts';
import {
  type LatencyRow,
  selectFirstHour,
  selectJobCounts,
  selectLatencies,
  selectUsage,
  type UsageRow,
} from '../sql/usage.ts';
import { bucketSecondsOf, bucketsAround, overlapOf, wholeHours } from '../views/timeBuckets.ts';
import type { Call, Handlers } from './serveRoutes.ts';

const SECONDS = { hour: 3_600, day: 86_400 } as const;
/** A page could not show more either. */
const ROWS_MAX = 10_000;

interface UsageServices {
  pool: pg.Pool;
  nowSeconds: () => bigint;
}

/** The wallet's usage, from sums by the hour. */
export function usageHandlers(services: UsageServices): Handlers<typeof usageRoutes> {
  const { pool } = services;
  return {
    getJobCounts: ({ session: { wallet }, query }) => countJobs(services, wallet, query),
    async getUsage({ session: { wallet }, query }) {
      const { by, since, until, model, worker } = query;
      assertOrder(query);
      const seconds = SECONDS[by];
      const rows = await selectUsage(pool, {
        wallet,
        // Whole hours and days, since a part of one would look like little use.
        sinceSeconds: startOf(since, seconds),
        untilSeconds: Math.ceil(until.getTime() / 1_000),
        seconds,
        modelId: model,
        worker,
        limit: ROWS_MAX + 1,
      });
      if (rows.length > ROWS_MAX) {
        throw new ApiError('invalid_request', `More than ${ROWS_MAX} rows: ask for less time.`, {
          param: 'since',
        });
      }
      const times = { since: since.toISOString(), until: until.toISOString() };
      return { by, ...times, data: rows.map(usageView) };
    },
    async getLatencies({ session: { wallet }, query: { since, until } }) {
      assertOrder({ since, until });
      const rows = await selectLatencies(pool, { wallet, since, until });
      return {
        since: since.toISOString(),
        until: until.toISOString(),
        data: rows.map(latencyView),
      };
    },
  };
}

async function countJobs(
  { pool, nowSeconds }: UsageServices,
  wallet: string,
  query: Call<(typeof usageRoutes)['getJobCounts']>['query'],
): Promise<JobCountAnswer> {
  const since = query.since ? query.since.getTime() / 1_000 : 0;
  const until = query.until ? query.until.getTime() / 1_000 : Number.POSITIVE_INFINITY;
  assertOrder({ since, until });
  const end = Number(nowSeconds()) + 1;
  const first = (await selectFirstHour(pool, wallet)) ?? end;
  // A day at least, so that a chart of the first jobs has room.
  const whole = { since: Math.min(first, end - SECONDS.day), until: end };
  const times = wholeHours(overlapOf({ since, until }, whole));
  const bucketSeconds = bucketSecondsOf(times);
  const rows = await selectJobCounts(pool, {
    wallet,
    sinceSeconds: times.since,
    untilSeconds: times.until,
    bucketSeconds,
    modelId: query.model,
  });
  const shown = bucketsAround(times, bucketSeconds);
  return {
    since: isoTime(BigInt(shown.since)),
    until: isoTime(BigInt(shown.until)),
    slot_seconds: bucketSeconds,
    data: rows.map((row) => ({
      start: isoTime(row.start),
      settled: Number(row.settled),
      failed: Number(row.failed),
      refunded: Number(row.refunded),
      unfinished: Number(row.unfinished),
    })),
  };
}

function startOf(time: Date, seconds: number): number {
  const unixSeconds = Math.floor(time.getTime() / 1_000);
  return unixSeconds - (unixSeconds % seconds);
}

/** @throws ApiError `invalid_request` */
function assertOrder({ since, until }: Record<'since' | 'until', Date | number>): void {
  if (since < until) return;
  throw new ApiError('invalid_request', "Invalid value for 'until': must be after since.", {
    param: 'until',
  });
}

function usageView(row: UsageRow): UsageAnswer['data'][number] {
  return {
    start: isoTime(row.start),
    model: row.model_id,
    worker_address: row.worker === '' ? null : row.worker,
    jobs: Number(row.jobs),
    settled: Number(row.settled),
    failed: Number(row.failed),
    refunded: Number(row.refunded),
    credits_charged: creditsNumber(row.charged_credits),
    long_jobs: Number(row.long_jobs),
    long_credits_charged: creditsNumber(row.long_credits),
    prompt_tokens: Number(row.prompt_tokens),
    completion_tokens: Number(row.completion_tokens),
  };
}

function latencyView(row: LatencyRow): LatencyAnswer['data'][number] {
  const pair = (p50: number | null, p95: number | null) =>
    p50 === null || p95 === null ? null : { p50, p95 };
  return {
    model: row.model_id,
    jobs: row.jobs,
    lock_ms: pair(row.lock_p50, row.lock_p95),
    first_token_ms: pair(row.first_p50, row.first_p95),
    worker_ms: pair(row.worker_p50, row.worker_p95),
  };
}
