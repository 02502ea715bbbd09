/** The form of event envelopes: the date of the release that last changed it. */
export const API_VERSION = '2026-11-21';

/** Everything that a webhook can subscribe to. */
export const EVENT_KINDS = [
  'job.submitted',
  'job.processing',
  'job.completed',
  'job.failed',
  'job.timeout',
  'job.disputed',
  'job.dispute_resolved',
  'credit.low',
  'credit.topup',
  'worker.registered',
  'worker.slashed',
] as const;

export type EventKind = (typeof EVENT_KINDS)[number];

type Tier = 'lite' | 'standard' | 'pro' | 'max';

/**
 * What each kind of event says. Credits and tokens are integers; `usdc_value` is in stablecoin
 * units; `…_tx` and `tx` are ledger transaction signatures; hashes are `sha256:` and 64 hex digits;
 * `…_at` are ISO 8601 UTC; `credits_remaining` is the available balance right after the event.
 */
export interface EventData {
  'job.submitted': {
    job_id: string;
    model: string;
    tier: Tier;
    credits_locked: number;
    escrow_tx: string;
    escrow_pda: string;
    chain_slot: number;
    credits_remaining: number;
  };
  /** Comes again when another worker takes the job over. */
  'job.processing': {
    job_id: string;
    model: string;
    worker_address: string;
    tx: string;
    chain_slot: number;
  };
  'job.completed': {
    job_id: string;
    model: string;
    tier: Tier;
    credits_charged: number;
    usdc_value: number;
    worker_address: string;
    settlement_tx: string;
    chain_slot: number;
    prompt_tokens: number;
    completion_tokens: number;
    credits_remaining: number;
  };
  'job.failed': RefundedJob & { reason: string };
  'job.timeout': RefundedJob;
  'job.disputed': {
    job_id: string;
    your_hash: string;
    worker_hash: string;
    dispute_tx: string;
    chain_slot: number;
    arbitration_ends_at: string;
  };
  'job.dispute_resolved': {
    job_id: string;
    outcome: 'upheld' | 'rejected' | 'expired';
    /** What the verdict gives back of the charge; they arrive as available credits once repaid. */
    credits_returned: number;
    resolution_tx: string;
    chain_slot: number;
  };
  'credit.low': { credits_remaining: number; usdc_value: number; threshold: number };
  'credit.topup': {
    credits_added: number;
    credits_remaining: number;
    usdc_value: number;
    tx: string;
    chain_slot: number;
  };
  'worker.registered': {
    worker_address: string;
    endpoint: string;
    models: string[];
    stake_token: number;
    tx: string;
    chain_slot: number;
  };
  'worker.slashed': {
    worker_address: string;
    slash_amount_token: number;
    slash_tx: string;
    reason: string;
    related_job_id: string;
  };
}

interface RefundedJob {
  job_id: string;
  model: string;
  tier: Tier;
  credits_refunded: number;
  refund_tx: string;
  chain_slot: number;
  credits_remaining: number;
}

/** A delivered event of one kind. */
export interface EventEnvelope<Kind extends EventKind> {
  /** The same at each attempt to deliver it: drop what you have seen. */
  id: string;
  event: Kind;
  /** The ledger's time of the event. */
  created_at: string;
  /** The form of `data`, pinned when the webhook was created. */
  api_version: string;
  data: EventData[Kind];
}

/** A delivered event; `event` tells which kind it is, and so the type of `data`. */
export type WebhookEvent = { [Kind in EventKind]: EventEnvelope<Kind> }[EventKind];
