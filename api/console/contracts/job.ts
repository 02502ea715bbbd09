import { z } from 'zod';
import { JOB_STATUSES } from '../../../programs/client/generated/vocabulary.ts';
import { RATES } from '../../../programs/client/pricing.ts';
import { chatCompletionRequest } from '../../contracts/chatCompletion.ts';
import { disputeAnswer, disputeRequest, jobObject } from '../../contracts/job.ts';
import { credits, jobId, ledgerAddress, tokens } from '../../contracts/values.ts';
import { route } from './route.ts';
import { givenTime, pageLimit, pageOf, timeNullable } from './values.ts';

const milliseconds = z.int().min(0).nullable();

/** What the API measured; kept for 30 days. */
const timings = z.object({
  lock_ms: milliseconds.describe('From the request to its confirmed lock.'),
  first_token_ms: milliseconds.describe('From the lock to the first text.'),
  worker_ms: milliseconds.describe('From the lock to the whole text with its proof.'),
  settlement_ms: milliseconds.describe('From there to the confirmed settlement.'),
});

/** Its model's price at the lock. */
const jobPrice = z.object({
  credits_per_request: credits,
  credits_per_1k_tokens: credits,
  long_completion_threshold: tokens,
});

/** A job as the pages show it: the object of /v1, with further columns of the mirror. */
const consoleJob = jobObject.extend({
  locked_credits: credits,
  price: jobPrice,
  rate: z
    .enum(RATES)
    .nullable()
    .describe('Which of the two prices was charged; null of a job without a charge.'),
  attempt: z.int().min(0).describe('How many workers were given the job.'),
  acknowledged_at: timeNullable,
  proven_at: timeNullable,
  settled_at: timeNullable,
  timeout_at: timeNullable.describe('T: from then on anybody can refund the job.'),
  is_closed: z.boolean().describe('Whether its account has left the ledger.'),
  disputed_by_wallet: z.boolean(),
  dispute_resolved_at: timeNullable,
  controller: ledgerAddress,
  timings: timings.nullable().describe('Null where nothing was measured, or not any more.'),
});

export type ConsoleJob = z.infer<typeof consoleJob>;

const consoleJobList = pageOf(consoleJob, 'as `before`; with `after`, as `after`');

export type ConsoleJobList = z.infer<typeof consoleJobList>;

const filters = {
  status: z.enum(JOB_STATUSES, { error: 'must be a job status, given once' }).optional(),
  model: z.string({ error: 'must be given once' }).optional(),
  since: givenTime.optional().describe('Jobs locked from this time on.'),
  until: givenTime.optional().describe('Jobs locked before this time.'),
};

const jobQuery = z.object({
  limit: pageLimit(50),
  before: jobId.optional(),
  after: jobId.optional(),
  id: jobId.optional().describe('The one job of this id, or none.'),
  ...filters,
});

const csvQuery = z.object(filters);

export const jobRoutes = {
  getJobs: route('GET', '/jobs', 'session', {
    summary: "the wallet's jobs by state, model, time or id, newest first",
    query: jobQuery,
    answer: consoleJobList,
  }),
  getJobsCsv: route('GET', '/jobs.csv', 'session', {
    summary: 'the same as CSV, at most 100,000 rows; no cell is a formula',
    query: csvQuery,
    form: 'text/csv',
  }),
  getJob: route('GET', '/jobs/:job_id', 'session', { summary: 'one of them', answer: consoleJob }),
  disputeJob: route('POST', '/jobs/:job_id/dispute', 'session', {
    summary: 'dispute it, as POST /v1/jobs/{job_id}/dispute does',
    body: disputeRequest,
    answer: disputeAnswer,
  }),
  getStream: route('GET', '/stream', 'session', {
    needsAccount: true,
    summary: "the wallet's changes as they come, at most one event a second",
    form: 'text/event-stream',
  }),
  postCompletion: route('POST', '/completions', 'session', {
    summary: "a chat completion, admitted by the wallet's live key",
    body: chatCompletionRequest,
    form: 'chat completion',
  }),
};

/**
 * What the stream sends as `event: changes`; its `id` resumes the stream there. `event: reset` has
 * no data: so much has changed that the lists have to be read again.
 */
const streamChanges = z.object({
  jobs: z.array(consoleJob).describe('Jobs that changed, as they are now.'),
  available_credits: credits,
  locked_credits: credits,
});

export type StreamChanges = z.infer<typeof streamChanges>;
