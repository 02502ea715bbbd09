import type { JobStatus, Tier, WorkerStatus } from '../../programs/client/generated/vocabulary.ts';

/** An integer of up to 64 bits as a statement takes it: in decimal where a float could not hold it. */
type Integer = string | number;

/** The tables that mirror one kind of account each, with the columns that folds write. */
export interface Tables {
  config: {
    authority: string;
    pending_authority: string | null;
    arbiter: string;
    credit_mint: string;
    stake_mint: string;
    vault: string;
    treasury_vault: string;
    stake_vault: string;
    stake_decimals: number;
    treasury_share_basis_points: number;
    job_timeout_seconds: number;
    dispute_window_seconds: number;
    arbitration_window_seconds: number;
    unstake_cooldown_seconds: number;
    open_disputes_max: number;
    deposits_paused: boolean;
    locks_paused: boolean;
    minimum_stake_tokens: Integer;
    slash_tokens: number;
    job_credits_max: Integer;
    credit_account_credits_max: Integer;
    treasury_floor_credits: Integer;
    earlier_floor_credits: Integer;
    earlier_floor_ends_at: Integer | null;
  };
  treasury: {
    owed_base_units: Integer;
    disputed_exposure_base_units: Integer;
    slashed_stake_tokens: Integer;
    unpaid_base_units: Integer;
  };
  gateways: { operator: string; signers: string[]; stopped: boolean; vouched: boolean };
  credit_accounts: {
    wallet: string;
    spender: string | null;
    limit_per_job_credits: Integer;
    limit_per_day_credits: Integer;
    spent_day: number;
    spent_today_credits: Integer;
    available_credits: Integer;
    locked_credits: Integer;
    owed_credits: Integer;
    open_disputes: number;
    opened_at: Integer;
    last_topup_at: Integer | null;
  };
  models: {
    id: string;
    tier: Tier;
    label: string;
    originator: string;
    context_window_tokens: number;
    credits_per_request: number;
    credits_per_1k_tokens: number;
    long_completion_threshold_tokens: number;
    created_at: Integer;
    retires_at: Integer | null;
  };
  workers: {
    authority: string;
    proof_key: string;
    payout: string;
    endpoint: string;
    status: WorkerStatus;
    stake_tokens: Integer;
    unstaking_tokens: Integer;
    unstake_ready_at: Integer | null;
    claimable_base_units: Integer;
    jobs_settled: Integer;
    registered_at: Integer;
    unstake_cooldown_seconds: number;
    previous_proof_key: string | null;
    proof_key_changed_at: Integer | null;
  };
  jobs: {
    job_id: string;
    credit_account: string;
    wallet: string;
    controller: string;
    model: string;
    model_id: string;
    tier: Tier;
    status: JobStatus;
    attempt: number;
    outcome: string | null;
    failure_reason: string | null;
    token_limit: number;
    credits_per_request: number;
    credits_per_1k_tokens: number;
    long_completion_threshold_tokens: number;
    treasury_share_basis_points: number;
    slash_tokens: number;
    job_timeout_seconds: number;
    dispute_window_seconds: number;
    arbitration_window_seconds: number;
    rent_payer: string;
    locked_credits: Integer;
    charged_credits: Integer;
    worker: string | null;
    output_hash: string | null;
    prompt_tokens: number | null;
    completion_tokens: number | null;
    counted_tokens: number | null;
    locked_at: Integer;
    acknowledged_at: Integer | null;
    proven_at: Integer | null;
    settled_at: Integer | null;
    ended_at: Integer | null;
    escrow_tx: string;
    escrow_slot: bigint;
    settlement_tx: string | null;
    settlement_slot: bigint | null;
    refund_tx: string | null;
    client_hash: string | null;
    dispute_tx: string | null;
    disputed_at: Integer | null;
    arbitration_ends_at: Integer | null;
    resolution_tx: string | null;
    resolved_at: Integer | null;
    worker_base_units: Integer | null;
    treasury_base_units: Integer | null;
    settled_by: string | null;
    vouched: boolean;
    disputed_by_wallet: boolean;
    closed: boolean;
  };
}

export type TableName = keyof Tables;
