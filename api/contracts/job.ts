import { z } from 'zod';
import {
  FAILURE_REASONS,
  JOB_STATUSES,
  TIERS,
} from '../../programs/client/generated/vocabulary.ts';
import { RATES } from '../../programs/client/pricing.ts';
import { route } from './route.ts';
import {
  bodyOf,
  count,
  credits,
  givenTime,
  jobId,
  ledgerAddress,
  listOf,
  once,
  pageLimit,
  sha256Hash,
  slot,
  time,
  timeNullable,
  tokens,
  transactionSignature,
  usage,
  usdc,
} from './values.ts';

const disputeObject = z.object({
  status: z.enum(['open', 'upheld', 'rejected', 'expired']),
  your_hash: sha256Hash,
  dispute_tx: transactionSignature.nullable(),
  opened_at: time.nullable(),
  arbitration_ends_at: time.nullable(),
  resolution_tx: transactionSignature.nullable(),
});

/** A job with its ledger record; what is not known yet is null. */
export const jobObject = z.object({
  id: jobId,
  object: z.literal('job'),
  status: z.enum(JOB_STATUSES),
  failure_reason: z
    .enum(FAILURE_REASONS)
    .exclude(['none'])
    .nullable()
    .describe(
      'Our choice: why a failed job failed; null of any other. `lock_late`: its lock landed after ' +
        'the request was given up. `lease_lost`: its process fell silent while a worker answered, ' +
        'and a repeat ended the job. `orphaned`: the same before a worker had the job.',
    ),
  model: z.string(),
  tier: z.enum(TIERS),
  credits_charged: credits.describe('0 until the job is settled.'),
  usdc_value: usdc.describe('The charge in stablecoin units.'),
  worker_address: ledgerAddress.nullable(),
  created_at: time.describe("The lock, in the ledger's time: whole seconds."),
  completed_at: time.nullable().describe("The job's end, in the ledger's time."),
  on_chain: z.object({
    escrow_tx: transactionSignature.describe('The transaction that locked the credits.'),
    settlement_tx: transactionSignature
      .nullable()
      .describe('The transaction that checked the proof and paid the worker.'),
    refund_tx: transactionSignature
      .nullable()
      .describe('Our choice: the transaction that gave the credits of an unpaid job back.'),
    escrow_pda: ledgerAddress.describe('The address of the escrow account.'),
    slot: slot.describe("The settlement's slot; before it, the lock's."),
    proof_hash: sha256Hash.nullable().describe('The hash that the worker signed.'),
  }),
  usage: usage.nullable().describe('Null until the worker has proven its answer.'),
  dispute: disputeObject.nullable().describe('Our choice: how the dispute of this job stands.'),
  dispute_window_ends_at: time
    .nullable()
    .describe('Our choice: until then the job can be disputed; null unless it is settled.'),
});

export type JobObject = z.infer<typeof jobObject>;

const cursor = jobId
  .nullable()
  .describe('Where to go on, as `before` or, when that was asked, `after`; null at the end.');

const paged = { has_more: z.boolean(), next_cursor: cursor };

export const jobList = listOf(jobObject, 'Newest first.').extend(paged);

export type JobList = z.infer<typeof jobList>;

/** The query of GET /v1/jobs. A parameter given twice arrives as an array, and is refused, as an unknown one is. */
const jobListQuery = z.strictObject({
  limit: pageLimit(20).describe('How many jobs to return.'),
  before: jobId.optional().describe('Jobs created before this job.'),
  after: jobId
    .optional()
    .describe(
      'Jobs created after this job. Our choice: the next newer ones, newest first; with `before`, ' +
        'the newest ones between the two.',
    ),
  status: z
    .enum(JOB_STATUSES, { error: 'must be a job status, given once' })
    .optional()
    .describe('Only jobs in this state.'),
  model: z
    .string(once)
    .optional()
    .describe('Only jobs of this model; of an unknown one there are none.'),
});

const milliseconds = count.nullable();

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
  attempt: count.describe('How many workers were given the job.'),
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

export const consoleJobList = listOf(consoleJob, 'Newest first.').extend(paged);

export type ConsoleJobList = z.infer<typeof consoleJobList>;

const period = {
  since: givenTime.optional().describe('Jobs locked from this time on.'),
  until: givenTime.optional().describe('Jobs locked before this time.'),
};

const jobPageQuery = jobListQuery.extend({
  limit: pageLimit(50),
  id: jobId.optional().describe('The one job of this id, or none.'),
  ...period,
});

export type JobListQuery = z.output<typeof jobPageQuery>;

const PREFIX = 'sha256:';

/** The body of POST /v1/jobs/{job_id}/dispute; the digest's hexadecimal digits in either case. */
export const disputeRequest = bodyOf({
  received_output_hash: z
    .string({ error: 'must be a string' })
    .regex(/^sha256:[0-9a-fA-F]{64}$/, { error: 'must be sha256: and 64 hexadecimal digits' })
    .transform((text) => text.slice(PREFIX.length).toLowerCase())
    .describe(
      'The sha256 of the whole text received, as UTF-8 without a newline at its end: ' +
        '`sha256:` and 64 hexadecimal digits.',
    ),
});

/** The result of the comparison. */
export const disputeAnswer = z.object({
  job_id: jobId,
  dispute_opened: z.boolean(),
  your_hash: sha256Hash,
  worker_hash: sha256Hash.describe('The hash that the worker signed.'),
  dispute_tx: transactionSignature.optional().describe('With an opened dispute.'),
  arbitration_window_hours: z.int().min(1).optional().describe('With an opened dispute.'),
  message: z
    .string()
    .optional()
    .describe('Our choice: with equal hashes, that no dispute was opened.'),
});

export type DisputeAnswer = z.infer<typeof disputeAnswer>;

const jobParameter = { job_id: 'The id of a job of the wallet of this key.' };

export const jobRoutes = {
  listJobs: route('GET', '/jobs', ['key', 'session'], {
    summary: "the wallet's jobs by state, model, time or id, newest first",
    query: jobListQuery,
    answer: jobList,
    pageQuery: jobPageQuery,
    pageAnswer: consoleJobList,
    docs: {
      tag: 'Jobs',
      summary: 'List jobs',
      description:
        'The jobs of the wallet. Our choice: always newest first. `before` goes on to older ones; ' +
        '`after` alone gives the next newer ones. With both, what lies between is listed from its ' +
        'newest on. `next_cursor` is for `after` where that was given alone, else for `before`. A ' +
        'cursor that names no job of the wallet is a 400; an unknown model gives an empty list.',
    },
  }),
  getJobsCsv: route('GET', '/jobs.csv', ['session'], {
    summary: 'the same as CSV, at most 100,000 rows; no cell is a formula',
    query: jobPageQuery.pick({ status: true, model: true, since: true, until: true }),
    form: 'text/csv',
  }),
  getJob: route('GET', '/jobs/:job_id', ['key', 'session'], {
    summary: 'one of them',
    answer: jobObject,
    pageAnswer: consoleJob,
    docs: {
      tag: 'Jobs',
      summary: 'Show a job',
      description: 'A job with its ledger record, which anybody can check without this API.',
      pathParameters: jobParameter,
      errors: ['job_not_found'],
    },
  }),
  disputeJob: route('POST', '/jobs/:job_id/dispute', ['key', 'session'], {
    summary: 'dispute it',
    body: disputeRequest,
    answer: disputeAnswer,
    docs: {
      tag: 'Jobs',
      summary: 'Dispute a job',
      description: [
        'Compares the hash of what you received with the one that the worker signed. If they differ, ' +
          'the job becomes `disputed` on the ledger, to be decided within the arbitration window. ' +
          'If they are equal, nothing changes.',
        "Our choice: the 60 seconds count from the settlement, by the ledger's clock. A job that is " +
          'still settling is waited for, up to 10 s. A job can be disputed once.',
      ].join('\n\n'),
      pathParameters: jobParameter,
      errors: [
        'spender_not_set',
        'job_not_found',
        'dispute_already_open',
        'job_not_settled',
        'dispute_window_expired',
        'dispute_limit_reached',
      ],
    },
  }),
};
