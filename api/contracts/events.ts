import { z } from 'zod';
import { FAILURE_REASONS, TIERS } from '../../programs/client/generated/vocabulary.ts';
import type { EventData, EventKind } from '../../webhooks/events.ts';
import {
  credits,
  jobId,
  ledgerAddress,
  sha256Hash,
  slot,
  time,
  tokens,
  transactionSignature,
  usdc,
} from './values.ts';

const tier = z.enum(TIERS);
const creditsRemaining = credits.describe('The available balance right after the event.');

const refundedJob = z.object({
  job_id: jobId,
  model: z.string(),
  tier,
  credits_refunded: credits,
  refund_tx: transactionSignature,
  chain_slot: slot,
  credits_remaining: creditsRemaining,
});

const reason = z.enum(FAILURE_REASONS).exclude(['none']);

/** The `data` of each kind of event; the receivers' types in `webhooks/events.ts` say the same. */
export const eventData = {
  'job.submitted': z.object({
    job_id: jobId,
    model: z.string(),
    tier,
    credits_locked: credits,
    escrow_tx: transactionSignature,
    escrow_pda: ledgerAddress,
    chain_slot: slot,
    credits_remaining: creditsRemaining,
  }),
  'job.processing': z.object({
    job_id: jobId,
    model: z.string(),
    worker_address: ledgerAddress,
    tx: transactionSignature,
    chain_slot: slot,
  }),
  'job.completed': z.object({
    job_id: jobId,
    model: z.string(),
    tier,
    credits_charged: credits,
    usdc_value: usdc,
    worker_address: ledgerAddress,
    settlement_tx: transactionSignature,
    chain_slot: slot,
    prompt_tokens: tokens,
    completion_tokens: tokens,
    credits_remaining: creditsRemaining,
  }),
  'job.failed': refundedJob.extend({ reason }),
  'job.timeout': refundedJob,
  'job.disputed': z.object({
    job_id: jobId,
    your_hash: sha256Hash,
    worker_hash: sha256Hash,
    dispute_tx: transactionSignature,
    chain_slot: slot,
    arbitration_ends_at: time,
  }),
  'job.dispute_resolved': z.object({
    job_id: jobId,
    outcome: z.enum(['upheld', 'rejected', 'expired']),
    credits_returned: credits.describe('What the verdict gives back of the charge.'),
    resolution_tx: transactionSignature,
    chain_slot: slot,
  }),
  'credit.low': z.object({
    credits_remaining: creditsRemaining,
    usdc_value: usdc,
    threshold: credits,
  }),
  'credit.topup': z.object({
    credits_added: credits,
    credits_remaining: creditsRemaining,
    usdc_value: usdc,
    tx: transactionSignature,
    chain_slot: slot,
  }),
  'worker.registered': z.object({
    worker_address: ledgerAddress,
    endpoint: z.string(),
    models: z.array(z.string()),
    stake_token: z.int().min(0),
    tx: transactionSignature,
    chain_slot: slot,
  }),
  'worker.slashed': z.object({
    worker_address: ledgerAddress,
    slash_amount_token: z.int().min(0),
    slash_tx: transactionSignature,
    reason: z.string().describe('Such as `fraudulent_proof`.'),
    related_job_id: jobId,
  }),
} satisfies { [Kind in EventKind]: z.ZodType<EventData[Kind]> };

export function eventEnvelope(kind: EventKind) {
  return z.object({
    id: z.string().regex(/^evt_/).describe('The same at each attempt: drop what you have seen.'),
    event: z.literal(kind),
    created_at: time.describe("The ledger's time of the event."),
    api_version: z.iso
      .date()
      .describe('The form of `data`. Our choice: pinned when the webhook is created.'),
    data: eventData[kind],
  });
}
