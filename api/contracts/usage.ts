import { z } from 'zod';
import { route } from './route.ts';
import { count, credits, givenTime, ledgerAddress, time, tokens } from './values.ts';

/** What was used in one hour or day, by model and worker. Jobs count where they were locked. */
const usageRow = z.object({
  start: time.describe('Of the hour or day, UTC.'),
  model: z.string(),
  worker_address: ledgerAddress.nullable().describe('Null of jobs that no worker took.'),
  jobs: count,
  settled: count.describe('Disputed ones among them: they are charged.'),
  failed: count,
  refunded: count,
  credits_charged: credits,
  long_jobs: count.describe(
    'Settled ones whose text cost the rate per 1,000 tokens; the others, per request.',
  ),
  long_credits_charged: credits.describe('The part of `credits_charged` that these cost.'),
  prompt_tokens: tokens,
  completion_tokens: tokens,
});

const usageAnswer = z.object({
  by: z.enum(['hour', 'day']),
  since: time,
  until: time,
  data: z.array(usageRow).describe('Oldest first.'),
});

export type UsageAnswer = z.infer<typeof usageAnswer>;

/** How many jobs were locked in one time bucket, by what became of them. */
const jobCountRow = z.object({
  start: time.describe('Of the bucket, UTC.'),
  settled: count.describe('Disputed ones among them.'),
  failed: count,
  refunded: count,
  unfinished: count,
});

const jobCountAnswer = z.object({
  since: time.describe('Where the first bucket begins.'),
  until: time.describe('Where the last bucket ends.'),
  slot_seconds: z.int().min(1).describe('Of a bucket. Whole hours; there are at most 96 buckets.'),
  data: z.array(jobCountRow).describe('Oldest first; buckets without a job are left out.'),
});

export type JobCountAnswer = z.infer<typeof jobCountAnswer>;

/** Percentiles over the jobs of a model of which milliseconds are known. */
const percentiles = z.object({ p50: count, p95: count }).nullable();

const latencyAnswer = z.object({
  since: time,
  until: time,
  data: z.array(
    z.object({
      model: z.string(),
      jobs: z.int().min(1),
      lock_ms: percentiles,
      first_token_ms: percentiles,
      worker_ms: percentiles,
    }),
  ),
});

export type LatencyAnswer = z.infer<typeof latencyAnswer>;

const period = {
  since: givenTime.describe('Jobs locked from this time on.'),
  until: givenTime.describe('Jobs locked before this time.'),
};

const usageQuery = z.object({
  ...period,
  by: z.enum(['hour', 'day'], { error: 'must be hour or day' }).default('day'),
  model: z.string({ error: 'must be given once' }).optional(),
  worker: z.string({ error: 'must be given once' }).optional(),
});

const jobCountQuery = z.object({
  since: period.since.optional(),
  until: period.until.optional(),
  model: usageQuery.shape.model,
});

export const usageRoutes = {
  getJobCounts: route('GET', '/job-counts', ['session'], {
    summary: "the wallet's jobs by time bucket and state, of a day at least, from its first job on",
    query: jobCountQuery,
    answer: jobCountAnswer,
  }),
  getUsage: route('GET', '/usage', ['session'], {
    summary: 'jobs, credits and tokens by hour or day, model and worker; at most 10,000 rows',
    query: usageQuery,
    answer: usageAnswer,
  }),
  getLatencies: route('GET', '/usage/latency', ['session'], {
    summary: 'milliseconds by model, over 30 days at most',
    query: z.object(period),
    answer: latencyAnswer,
  }),
};
