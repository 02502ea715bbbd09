import { z } from 'zod';
import { JOB_STATUSES, TIERS } from '../../programs/client/vocabulary.ts';
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
