//! Every event of the program.
//!
//! Each begins with the slot and the unix time. It carries the new sequence and the balances of
//! every account that it changes. So events alone, folded by sequence, rebuild every account, and a
//! missing one shows as a gap.

use pinocchio::Address;

use crate::{
    state::{
        job::{DisputeOutcome, FailureReason},
        model::Tier,
        treasury::ClaimantKind,
    },
    wire::{byte::Byte, event_writer::event, text::Text},
};

event! {
    /// The configuration was created
    pub struct ConfigInitialized<'a> {
        pub config_sequence: u64,
        pub authority: &'a Address,
        pub arbiter: &'a Address,
        pub credit_mint: &'a Address,
        pub stake_mint: &'a Address,
        pub treasury_share_basis_points: u16,
        pub unstake_cooldown_seconds: u32,
        pub open_disputes_max: u8,
        pub minimum_stake_tokens: u64,
        pub slash_tokens: u32,
        pub job_credits_max: u64,
        pub credit_account_credits_max: u64,
        pub treasury_floor_credits: u64,
        pub vault: &'a Address,
        pub treasury_vault: &'a Address,
        pub stake_vault: &'a Address,
        pub stake_decimals: u8,
        pub job_timeout_seconds: u32,
        pub dispute_window_seconds: u32,
        pub arbitration_window_seconds: u32,
    }
}

event! {
    /// The configuration was changed
    pub struct ConfigUpdated<'a> {
        pub config_sequence: u64,
        pub authority: &'a Address,
        pub arbiter: &'a Address,
        pub credit_mint: &'a Address,
        pub stake_mint: &'a Address,
        pub treasury_share_basis_points: u16,
        pub unstake_cooldown_seconds: u32,
        pub open_disputes_max: u8,
        pub minimum_stake_tokens: u64,
        pub slash_tokens: u32,
        pub job_credits_max: u64,
        pub credit_account_credits_max: u64,
        pub treasury_floor_credits: u64,
        pub earlier_floor_credits: u64,
        pub earlier_floor_ends_at: i64,
    }
}

event! {
    /// A new authority was proposed, or the proposal withdrawn
    pub struct AuthorityProposed<'a> {
        pub config_sequence: u64,
        pub authority: &'a Address,
        pub pending_authority: &'a Address,
    }
}

event! {
    /// The proposed authority accepted
    pub struct AuthorityAccepted<'a> {
        pub config_sequence: u64,
        pub authority: &'a Address,
    }
}

event! {
    /// Deposits or locks were paused or resumed
    pub struct PauseSet {
        pub config_sequence: u64,
        pub deposits_paused: bool,
        pub locks_paused: bool,
    }
}

event! {
    /// The authority withdrew from the treasury vault
    pub struct TreasuryWithdrawn<'a> {
        pub authority: &'a Address,
        pub destination: &'a Address,
        pub base_units: u64,
        pub treasury_vault_base_units: u64,
    }
}

event! {
    /// A gateway was opened
    pub struct GatewayOpened<'a> {
        pub gateway: &'a Address,
        pub gateway_sequence: u64,
        pub operator: &'a Address,
        pub signers: &'a [Address],
        pub stopped: bool,
    }
}

event! {
    /// A gateway's signers or stop flag were set
    pub struct GatewayUpdated<'a> {
        pub gateway: &'a Address,
        pub gateway_sequence: u64,
        pub operator: &'a Address,
        pub signers: &'a [Address],
        pub stopped: bool,
    }
}

event! {
    /// The authority vouched for a gateway, or no longer does
    pub struct GatewayVouched<'a> {
        pub gateway: &'a Address,
        pub gateway_sequence: u64,
        pub operator: &'a Address,
        pub vouched: bool,
    }
}

event! {
    /// A model was added or changed
    pub struct ModelUpserted<'a> {
        pub model: &'a Address,
        pub model_sequence: u64,
        pub id: Text<'a>,
        pub tier: Byte<Tier>,
        pub label: Text<'a>,
        pub originator: Text<'a>,
        pub context_window_tokens: u32,
        pub credits_per_request: u32,
        pub credits_per_1k_tokens: u32,
        pub long_completion_threshold_tokens: u32,
        pub card_hash: &'a [u8; 32],
        pub created_at: i64,
        pub retires_at: i64,
    }
}

event! {
    /// A model's retirement was announced, or taken back
    pub struct ModelRetired<'a> {
        pub model: &'a Address,
        pub model_sequence: u64,
        pub id: Text<'a>,
        pub retires_at: i64,
    }
}

event! {
    /// A credit account was opened
    pub struct CreditOpened<'a> {
        pub credit_account: &'a Address,
        pub credit_sequence: u64,
        pub wallet: &'a Address,
        pub spender: &'a Address,
        pub limit_per_job_credits: u64,
        pub limit_per_day_credits: u64,
    }
}

event! {
    /// Credits were bought
    pub struct CreditBought<'a> {
        pub credit_account: &'a Address,
        pub credit_sequence: u64,
        pub wallet: &'a Address,
        pub buyer: &'a Address,
        pub credits: u64,
        pub available_credits: u64,
        pub locked_credits: u64,
    }
}

event! {
    /// Credits were withdrawn as stablecoin
    pub struct CreditWithdrawn<'a> {
        pub credit_account: &'a Address,
        pub credit_sequence: u64,
        pub wallet: &'a Address,
        pub destination: &'a Address,
        pub credits: u64,
        pub available_credits: u64,
        pub locked_credits: u64,
    }
}

event! {
    /// The wallet named its spender and the spender's limits
    pub struct SpenderSet<'a> {
        pub credit_account: &'a Address,
        pub credit_sequence: u64,
        pub wallet: &'a Address,
        pub spender: &'a Address,
        pub limit_per_job_credits: u64,
        pub limit_per_day_credits: u64,
    }
}

event! {
    /// The wallet set its spender's limits
    pub struct LimitSet<'a> {
        pub credit_account: &'a Address,
        pub credit_sequence: u64,
        pub wallet: &'a Address,
        pub limit_per_job_credits: u64,
        pub limit_per_day_credits: u64,
    }
}

event! {
    /// A worker was registered
    pub struct WorkerRegistered<'a> {
        pub worker: &'a Address,
        pub worker_sequence: u64,
        pub authority: &'a Address,
        pub proof_key: &'a Address,
        pub payout: &'a Address,
        pub endpoint: Text<'a>,
    }
}

event! {
    /// A worker's keys, payout or endpoint were changed
    pub struct WorkerUpdated<'a> {
        pub worker: &'a Address,
        pub worker_sequence: u64,
        pub authority: &'a Address,
        pub proof_key: &'a Address,
        pub previous_proof_key: &'a Address,
        pub proof_key_changed_at: i64,
        pub payout: &'a Address,
        pub endpoint: Text<'a>,
    }
}

event! {
    /// A worker began to host a model
    pub struct WorkerHosted<'a> {
        pub worker: &'a Address,
        pub worker_sequence: u64,
        pub model: &'a Address,
    }
}

event! {
    /// A worker stopped hosting a model
    pub struct WorkerUnhosted<'a> {
        pub worker: &'a Address,
        pub worker_sequence: u64,
        pub model: &'a Address,
    }
}

event! {
    /// A worker was suspended or readmitted
    pub struct WorkerSuspended<'a> {
        pub worker: &'a Address,
        pub worker_sequence: u64,
        pub suspended: bool,
    }
}

event! {
    /// A worker left for good
    pub struct WorkerDeregistered<'a> {
        pub worker: &'a Address,
        pub worker_sequence: u64,
    }
}

event! {
    /// Stake was deposited
    pub struct StakeDeposited<'a> {
        pub worker: &'a Address,
        pub worker_sequence: u64,
        pub tokens: u64,
        pub stake_tokens: u64,
        pub unstaking_tokens: u64,
        pub unstake_ready_at: i64,
        pub unstake_cooldown_seconds: u32,
    }
}

event! {
    /// Stake began its cooldown
    pub struct StakeUnlocked<'a> {
        pub worker: &'a Address,
        pub worker_sequence: u64,
        pub tokens: u64,
        pub stake_tokens: u64,
        pub unstaking_tokens: u64,
        pub unstake_ready_at: i64,
    }
}

event! {
    /// Unstaked tokens were withdrawn
    pub struct StakeWithdrawn<'a> {
        pub worker: &'a Address,
        pub worker_sequence: u64,
        pub tokens: u64,
        pub stake_tokens: u64,
        pub unstaking_tokens: u64,
        pub unstake_ready_at: i64,
        pub destination: &'a Address,
    }
}

event! {
    /// Slashed tokens were burnt
    pub struct SlashBurned {
        pub treasury_sequence: u64,
        pub tokens: u64,
        pub slashed_stake_tokens: u64,
    }
}

event! {
    /// Credits were locked for a job
    pub struct JobLocked<'a> {
        pub job: &'a Address,
        pub job_sequence: u32,
        pub job_id: &'a [u8; 16],
        pub credit_account: &'a Address,
        pub credit_sequence: u64,
        pub wallet: &'a Address,
        pub controller: &'a Address,
        pub model: &'a Address,
        pub model_id: Text<'a>,
        pub tier: Byte<Tier>,
        pub token_limit: u32,
        pub credits_per_request: u32,
        pub credits_per_1k_tokens: u32,
        pub long_completion_threshold_tokens: u32,
        pub treasury_share_basis_points: u16,
        pub slash_tokens: u32,
        pub job_timeout_seconds: u16,
        pub dispute_window_seconds: u16,
        pub arbitration_window_seconds: u32,
        pub rent_payer: &'a Address,
        pub vouched: bool,
        /// Of this job
        pub locked_credits: u64,
        pub available_credits: u64,
        pub account_locked_credits: u64,
        pub limit_day: u32,
        pub spent_day: u32,
        pub spent_today_credits: u64,
    }
}

event! {
    /// A worker was given the job
    pub struct JobAcknowledged<'a> {
        pub job: &'a Address,
        pub job_sequence: u32,
        pub job_id: &'a [u8; 16],
        pub worker: &'a Address,
        pub attempt: u8,
        /// Whose proof counts no more; zero when none was recorded, as the next two
        pub voided_worker: &'a Address,
        pub voided_attempt: u8,
        pub voided_output_hash: &'a [u8; 32],
    }
}

event! {
    /// The worker's proof was recorded
    pub struct JobProven<'a> {
        pub job: &'a Address,
        pub job_sequence: u32,
        pub job_id: &'a [u8; 16],
        pub worker: &'a Address,
        pub attempt: u8,
        /// The key that signed the proof
        pub proof_key: &'a Address,
        pub output_hash: &'a [u8; 32],
        pub prompt_tokens: u32,
        pub completion_tokens: u32,
        pub request_commitment: &'a [u8; 32],
    }
}

event! {
    /// The job was charged and paid
    pub struct JobSettled<'a> {
        pub job: &'a Address,
        pub job_sequence: u32,
        pub job_id: &'a [u8; 16],
        pub credit_account: &'a Address,
        pub credit_sequence: u64,
        pub wallet: &'a Address,
        pub worker: &'a Address,
        pub worker_sequence: u64,
        /// The key that signed the settlement and the delivery receipt
        pub settled_by: &'a Address,
        pub output_hash: &'a [u8; 32],
        pub prompt_tokens: u32,
        pub completion_tokens: u32,
        pub counted_tokens: u32,
        pub charged_credits: u64,
        pub returned_credits: u64,
        pub worker_base_units: u64,
        /// False when the amount became claimable instead
        pub worker_paid: bool,
        pub treasury_base_units: u64,
        /// False when the amount became unpaid instead
        pub treasury_paid: bool,
        pub worker_claimable_base_units: u64,
        pub jobs_settled: u64,
        pub treasury_sequence: u64,
        pub treasury_unpaid_base_units: u64,
        pub available_credits: u64,
        pub account_locked_credits: u64,
        pub spent_today_credits: u64,
    }
}

event! {
    /// The job was given to a worker, proven, charged and paid at once
    pub struct JobCompleted<'a> {
        pub job: &'a Address,
        pub job_sequence: u32,
        pub job_id: &'a [u8; 16],
        pub credit_account: &'a Address,
        pub credit_sequence: u64,
        pub wallet: &'a Address,
        pub worker: &'a Address,
        pub worker_sequence: u64,
        /// The key that signed the settlement and the delivery receipt
        pub settled_by: &'a Address,
        pub attempt: u8,
        /// The key that signed the proof
        pub proof_key: &'a Address,
        pub output_hash: &'a [u8; 32],
        pub prompt_tokens: u32,
        pub completion_tokens: u32,
        pub request_commitment: &'a [u8; 32],
        pub counted_tokens: u32,
        pub charged_credits: u64,
        pub returned_credits: u64,
        pub worker_base_units: u64,
        /// False when the amount became claimable instead
        pub worker_paid: bool,
        pub treasury_base_units: u64,
        /// False when the amount became unpaid instead
        pub treasury_paid: bool,
        pub worker_claimable_base_units: u64,
        pub jobs_settled: u64,
        pub treasury_sequence: u64,
        pub treasury_unpaid_base_units: u64,
        pub available_credits: u64,
        pub account_locked_credits: u64,
        pub spent_today_credits: u64,
    }
}

event! {
    /// The controller gave the job up
    pub struct JobFailed<'a> {
        pub job: &'a Address,
        pub job_sequence: u32,
        pub job_id: &'a [u8; 16],
        pub credit_account: &'a Address,
        pub credit_sequence: u64,
        pub wallet: &'a Address,
        pub reason: Byte<FailureReason>,
        pub returned_credits: u64,
        pub available_credits: u64,
        pub account_locked_credits: u64,
        pub spent_today_credits: u64,
    }
}

event! {
    /// The job timed out
    pub struct JobRefunded<'a> {
        pub job: &'a Address,
        pub job_sequence: u32,
        pub job_id: &'a [u8; 16],
        pub credit_account: &'a Address,
        pub credit_sequence: u64,
        pub wallet: &'a Address,
        pub returned_credits: u64,
        pub available_credits: u64,
        pub account_locked_credits: u64,
        pub spent_today_credits: u64,
    }
}

event! {
    /// A dispute was opened
    pub struct JobDisputed<'a> {
        pub job: &'a Address,
        pub job_sequence: u32,
        pub job_id: &'a [u8; 16],
        pub credit_account: &'a Address,
        pub credit_sequence: u64,
        pub wallet: &'a Address,
        pub treasury_sequence: u64,
        pub worker: &'a Address,
        pub client_hash: &'a [u8; 32],
        pub output_hash: &'a [u8; 32],
        pub charged_credits: u64,
        /// The most that an upheld dispute repays; set aside until the dispute ends
        pub repayable_credits: u64,
        pub disputed_by_wallet: bool,
        pub open_disputes: u8,
        pub disputed_exposure_base_units: u64,
        pub arbitration_ends_at: i64,
    }
}

event! {
    /// The wallet put its own hash in place of its controller's
    pub struct DisputeAmended<'a> {
        pub job: &'a Address,
        pub job_sequence: u32,
        pub job_id: &'a [u8; 16],
        pub credit_account: &'a Address,
        pub wallet: &'a Address,
        pub worker: &'a Address,
        pub client_hash: &'a [u8; 32],
        pub output_hash: &'a [u8; 32],
    }
}

event! {
    /// The arbiter decided a dispute
    pub struct DisputeResolved<'a> {
        pub job: &'a Address,
        pub job_sequence: u32,
        pub job_id: &'a [u8; 16],
        pub credit_account: &'a Address,
        pub credit_sequence: u64,
        pub wallet: &'a Address,
        pub worker: &'a Address,
        pub worker_sequence: u64,
        pub treasury_sequence: u64,
        pub verdict: Byte<DisputeOutcome>,
        /// The sha256 of the verified messages; zero without evidence
        pub evidence_hash: &'a [u8; 32],
        pub repaid_credits: u64,
        /// What stays charged
        pub charged_credits: u64,
        pub owed_credits: u64,
        pub open_disputes: u8,
        pub owed_base_units: u64,
        pub disputed_exposure_base_units: u64,
        pub slashed_tokens: u64,
        pub slashed_stake_tokens: u64,
        pub stake_tokens: u64,
        pub unstaking_tokens: u64,
    }
}

event! {
    /// A dispute ran out undecided
    pub struct DisputeExpired<'a> {
        pub job: &'a Address,
        pub job_sequence: u32,
        pub job_id: &'a [u8; 16],
        pub credit_account: &'a Address,
        pub credit_sequence: u64,
        pub wallet: &'a Address,
        pub treasury_sequence: u64,
        pub open_disputes: u8,
        pub disputed_exposure_base_units: u64,
    }
}

event! {
    /// A final job's account was closed
    pub struct JobClosed<'a> {
        pub job: &'a Address,
        /// One past the last
        pub job_sequence: u32,
        pub job_id: &'a [u8; 16],
        pub rent_payer: &'a Address,
        pub rent_lamports: u64,
    }
}

event! {
    /// A claim was paid
    pub struct ClaimPaid<'a> {
        pub claimant: &'a Address,
        pub claimant_kind: Byte<ClaimantKind>,
        pub claimant_sequence: u64,
        pub treasury_sequence: u64,
        pub base_units: u64,
        pub credits: u64,
        /// Still owed, claimable or unpaid
        pub remaining_base_units: u64,
        pub owed_base_units: u64,
        pub unpaid_base_units: u64,
        /// Zero unless the claimant is a credit account
        pub available_credits: u64,
    }
}
