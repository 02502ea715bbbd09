import { z } from 'zod';
import {
  FAILURE_REASONS,
  JOB_STATUSES,
  TIERS,
} from '../../programs/client/generated/vocabulary.ts';
import {
  credits,
  jobId,
  ledgerAddress,
  sha256Hash,
  slot,
  time,
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

export const jobList = z.object({
  object: z.literal('list'),
  data: z.array(jobObject).describe('Newest first.'),
  has_more: z.boolean(),
  next_cursor: jobId
    .nullable()
    .describe('Where to go on, as `before` or, when that was asked, `after`; null at the end.'),
});

export type JobList = z.infer<typeof jobList>;

const once = { error: 'must be given once' };

/** The query of GET /v1/jobs. A parameter given twice arrives as an array, and is refused, as an unknown one is. */
export const jobListQuery = z.strictObject({
  limit: z
    .string(once)
    .regex(/^\d{1,3}$/, { error: 'must be an integer from 1 to 100' })
    .transform(Number)
    .pipe(z.int().min(1).max(100))
    .default(20)
    .describe('How many jobs to return.'),
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

export type JobListQuery = z.infer<typeof jobListQuery>;

const PREFIX = 'sha256:';

/** The body of POST /v1/jobs/{job_id}/dispute; the digest's hexadecimal digits in either case. */
export const disputeRequest = z.object(
  {
    received_output_hash: z
      .string({ error: 'must be a string' })
      .regex(/^sha256:[0-9a-fA-F]{64}$/, {
        error: 'must be sha256: and 64 hexadecimal digits',
      })
      .transform((text) => text.slice(PREFIX.length).toLowerCase())
      .describe(
        'The sha256 of the whole text received, as UTF-8 without a newline at its end: ' +
          '`sha256:` and 64 hexadecimal digits.',
      ),
  },
  { error: 'must be a JSON object' },
);

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
