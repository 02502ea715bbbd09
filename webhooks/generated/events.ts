// Made from webhooks/kinds.ts by npm run generate: do not edit.

/** Everything that a webhook can subscribe to. */
export const WEBHOOK_KINDS = [
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

export type EventKind = (typeof WEBHOOK_KINDS)[number];

/**
 * The `data` of each kind of event. Credits and tokens are integers. `usdc_value` is in stablecoin
 * units. `…_tx` and `tx` are signatures of ledger transactions. Hashes are `sha256:` and 64 hex
 * digits. `…_at` are ISO 8601 UTC. `credits_remaining` is the balance right after the event.
 */
export interface EventData {
  /** A job was created and its credits are locked. */
  'job.submitted': {
    job_id: string;
    model: string;
    tier: 'lite' | 'standard' | 'pro' | 'max';
    credits_locked: number;
    escrow_tx: string;
    escrow_pda: string;
    chain_slot: number;
    credits_remaining: number;
  };
  /** A worker acknowledged the job. Again when another worker takes over. */
  'job.processing': {
    job_id: string;
    model: string;
    worker_address: string;
    tx: string;
    chain_slot: number;
  };
  /** The job settled on the ledger and the worker is paid. */
  'job.completed': {
    job_id: string;
    model: string;
    tier: 'lite' | 'standard' | 'pro' | 'max';
    credits_charged: number;
    usdc_value: number;
    worker_address: string;
    settlement_tx: string;
    chain_slot: number;
    prompt_tokens: number;
    completion_tokens: number;
    credits_remaining: number;
  };
  /** The job failed before its completion; its credits are back. */
  'job.failed': {
    job_id: string;
    model: string;
    tier: 'lite' | 'standard' | 'pro' | 'max';
    credits_refunded: number;
    refund_tx: string;
    chain_slot: number;
    credits_remaining: number;
    /** `empty_output`: no text, also where the request's own `stop` or limit left none. */
    reason: 'worker_error' | 'proof_missing' | 'proof_invalid' | 'output_mismatch' | 'empty_output' | 'client_gone' | 'lock_late' | 'context_length_exceeded' | 'lease_lost' | 'orphaned';
  };
  /** No worker completed the job within 120 s; its credits are back. */
  'job.timeout': {
    job_id: string;
    model: string;
    tier: 'lite' | 'standard' | 'pro' | 'max';
    credits_refunded: number;
    refund_tx: string;
    chain_slot: number;
    credits_remaining: number;
  };
  /** A dispute was opened. */
  'job.disputed': {
    job_id: string;
    your_hash: string;
    worker_hash: string;
    dispute_tx: string;
    chain_slot: number;
    arbitration_ends_at: string;
  };
  /** A dispute was upheld or rejected, or expired without a verdict. */
  'job.dispute_resolved': {
    job_id: string;
    outcome: 'upheld' | 'rejected' | 'expired';
    /** What the verdict gives back of the charge. */
    credits_returned: number;
    resolution_tx: string;
    chain_slot: number;
  };
  /** The balance fell below the threshold, 100 credits unless you set another. Available and locked credits count together. It fires once, until a purchase or a repaid dispute reaches the threshold again. */
  'credit.low': {
    credits_remaining: number;
    usdc_value: number;
    threshold: number;
  };
  /** Credits were added. */
  'credit.topup': {
    credits_added: number;
    credits_remaining: number;
    usdc_value: number;
    tx: string;
    chain_slot: number;
  };
  /** A worker registered. */
  'worker.registered': {
    worker_address: string;
    endpoint: string;
    models: string[];
    stake_token: number;
    tx: string;
    chain_slot: number;
  };
  /** A worker lost stake for a fraudulent proof. */
  'worker.slashed': {
    worker_address: string;
    slash_amount_token: number;
    slash_tx: string;
    /** Such as `fraudulent_proof`. */
    reason: string;
    related_job_id: string;
  };
}

/** A delivered event of one kind. */
export interface EventEnvelope<Kind extends EventKind> {
  /** The same at each attempt: drop what you have seen. */
  id: string;
  event: Kind;
  /** Our choice: only of a test or a triggered event, which did not happen. */
  test?: true;
  /** The ledger's time of the event. */
  created_at: string;
  /** The form of `data`. Our choice: pinned when the webhook is created. */
  api_version: string;
  data: EventData[Kind];
}
