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

/** What has happened when an event of a kind is sent. */
export const KIND_LABELS: Readonly<Record<EventKind, string>> = {
  'job.submitted': "A job was created and its credits are locked.",
  'job.processing': "A worker acknowledged the job.",
  'job.completed': "The job settled on the ledger and the worker is paid.",
  'job.failed': "The job failed before its completion; its credits are back.",
  'job.timeout': "No worker completed the job within 120 s; its credits are back.",
  'job.disputed': "A dispute was opened.",
  'job.dispute_resolved': "A dispute was upheld or rejected, or expired without a verdict.",
  'credit.low': "The balance fell below the threshold, 100 credits.",
  'credit.topup': "Credits were added.",
  'worker.registered': "A worker registered.",
  'worker.slashed': "A worker lost stake for a fraudulent proof.",
};

/** The `data` of each kind of event. Credits and tokens are integers. */
export interface EventData {
  /** A job was created and its credits are locked. */
  'job.submitted': {
    job_id: string;
    model: string;
    tier: 'lite' | 'standard' | 'pro' | 'max';
    credits_locked: number;
    /** The signature of a ledger transaction, base58. */
    escrow_tx: string;
    /** A ledger address, base58. */
    escrow_pda: string;
    /** A slot of the ledger. */
    chain_slot: number;
    /** The available balance right after the event. */
    credits_remaining: number;
  };
  /** A worker acknowledged the job. Again when another worker takes over. */
  'job.processing': {
    job_id: string;
    model: string;
    /** A ledger address, base58. */
    worker_address: string;
    /** The signature of a ledger transaction, base58. */
    tx: string;
    /** A slot of the ledger. */
    chain_slot: number;
  };
  /** The job settled on the ledger and the worker is paid. */
  'job.completed': {
    job_id: string;
    model: string;
    tier: 'lite' | 'standard' | 'pro' | 'max';
    credits_charged: number;
    /** Stablecoin units; one credit is 0.01. */
    usdc_value: number;
    /** A ledger address, base58. */
    worker_address: string;
    /** The signature of a ledger transaction, base58. */
    settlement_tx: string;
    /** A slot of the ledger. */
    chain_slot: number;
    prompt_tokens: number;
    completion_tokens: number;
    /** The available balance right after the event. */
    credits_remaining: number;
  };
  /** The job failed before its completion; its credits are back. */
  'job.failed': {
    job_id: string;
    model: string;
    tier: 'lite' | 'standard' | 'pro' | 'max';
    credits_refunded: number;
    /** The signature of a ledger transaction, base58. */
    refund_tx: string;
    /** A slot of the ledger. */
    chain_slot: number;
    /** The available balance right after the event. */
    credits_remaining: number;
    reason: 'worker_error' | 'proof_missing' | 'proof_invalid' | 'output_mismatch' | 'empty_output' | 'client_gone' | 'lock_late' | 'context_length_exceeded';
  };
  /** No worker completed the job within 120 s; its credits are back. */
  'job.timeout': {
    job_id: string;
    model: string;
    tier: 'lite' | 'standard' | 'pro' | 'max';
    credits_refunded: number;
    /** The signature of a ledger transaction, base58. */
    refund_tx: string;
    /** A slot of the ledger. */
    chain_slot: number;
    /** The available balance right after the event. */
    credits_remaining: number;
  };
  /** A dispute was opened. */
  'job.disputed': {
    job_id: string;
    /** `sha256:` and 64 lower-case hexadecimal digits. */
    your_hash: string;
    /** `sha256:` and 64 lower-case hexadecimal digits. */
    worker_hash: string;
    /** The signature of a ledger transaction, base58. */
    dispute_tx: string;
    /** A slot of the ledger. */
    chain_slot: number;
    /** ISO 8601, UTC. */
    arbitration_ends_at: string;
  };
  /** A dispute was upheld or rejected, or expired without a verdict. */
  'job.dispute_resolved': {
    job_id: string;
    outcome: 'upheld' | 'rejected' | 'expired';
    /** What the verdict gives back of the charge. */
    credits_returned: number;
    /** The signature of a ledger transaction, base58. */
    resolution_tx: string;
    /** A slot of the ledger. */
    chain_slot: number;
  };
  /** The balance fell below the threshold, 100 credits. Available and locked credits count together. It fires once, until a purchase or a repaid dispute reaches the threshold again. */
  'credit.low': {
    /** The available balance right after the event. */
    credits_remaining: number;
    /** Stablecoin units; one credit is 0.01. */
    usdc_value: number;
    threshold: number;
  };
  /** Credits were added. */
  'credit.topup': {
    credits_added: number;
    /** The available balance right after the event. */
    credits_remaining: number;
    /** Stablecoin units; one credit is 0.01. */
    usdc_value: number;
    /** The signature of a ledger transaction, base58. */
    tx: string;
    /** A slot of the ledger. */
    chain_slot: number;
  };
  /** A worker registered. */
  'worker.registered': {
    /** A ledger address, base58. */
    worker_address: string;
    endpoint: string;
    models: string[];
    stake_token: number;
    /** The signature of a ledger transaction, base58. */
    tx: string;
    /** A slot of the ledger. */
    chain_slot: number;
  };
  /** A worker lost stake for a fraudulent proof. */
  'worker.slashed': {
    /** A ledger address, base58. */
    worker_address: string;
    slash_amount_token: number;
    /** The signature of a ledger transaction, base58. */
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
  /** The ledger's time of the event. */
  created_at: string;
  /** The form of `data`. Our choice: pinned when the webhook is created. */
  api_version: string;
  data: EventData[Kind];
}
