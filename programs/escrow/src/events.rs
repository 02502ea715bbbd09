//! Every event of the program.
//!
//! Each begins with the slot and the unix time. It carries the new sequence and the balances of
//! every account that it changes. So events alone, folded by sequence, rebuild every account, and a
//! missing one shows as a gap.

use pinocchio::{AccountView, Address};

use crate::{
    settlement::{Payment, Settlement, SettlementAccounts},
    state::{
        Config, CreditAccount, Gateway, Job, Model, Worker,
        job::{DisputeOutcome, FailureReason},
        model::Tier,
        pricing::Prices,
        treasury::ClaimantKind,
    },
    wire::{
        byte::Byte,
        event_writer::{events, parts},
        text::Text,
    },
};

parts! {
    /// A job
    pub struct JobPart<'a>(view: &'a AccountView, state: &'a Job) {
        job: &'a Address = view.address(),
        job_sequence: u32 = state.sequence(),
        job_id: &'a [u8; 16] = state.job_id(),
    }

    /// A credit account, and whose it is
    pub struct CreditPart<'a>(view: &'a AccountView, state: &'a CreditAccount) {
        credit_account: &'a Address = view.address(),
        credit_sequence: u64 = state.sequence(),
        wallet: &'a Address = state.wallet(),
    }

    /// What a job's end leaves in its credit account
    pub struct BalancePart<'a>(state: &'a CreditAccount) {
        available_credits: u64 = state.available_credits(),
        account_locked_credits: u64 = state.locked_credits(),
        spent_today_credits: u64 = state.spent_today_credits(),
    }

    /// What binds a credit account's spender
    pub struct LimitsPart<'a>(state: &'a CreditAccount) {
        limit_per_job_credits: u64 = state.limit_per_job_credits(),
        limit_per_day_credits: u64 = state.limit_per_day_credits(),
    }

    /// A worker
    pub struct WorkerPart<'a>(view: &'a AccountView, state: &'a Worker) {
        worker: &'a Address = view.address(),
        worker_sequence: u64 = state.sequence(),
    }

    /// A worker's stake
    pub struct StakePart<'a>(state: &'a Worker) {
        stake_tokens: u64 = state.stake_tokens(),
        unstaking_tokens: u64 = state.unstaking_tokens(),
        unstake_ready_at: i64 = state.unstake_ready_at(),
    }

    /// A gateway
    pub struct GatewayPart<'a>(view: &'a AccountView, state: &'a Gateway) {
        gateway: &'a Address = view.address(),
        gateway_sequence: u64 = state.sequence(),
        operator: &'a Address = state.operator(),
    }

    /// What the authority decides
    pub struct TermsPart<'a>(state: &'a Config) {
        config_sequence: u64 = state.sequence(),
        authority: &'a Address = state.authority(),
        arbiter: &'a Address = state.arbiter(),
        credit_mint: &'a Address = state.credit_mint(),
        stake_mint: &'a Address = state.stake_mint(),
        treasury_share_basis_points: u16 = state.treasury_share_basis_points(),
        unstake_cooldown_seconds: u32 = state.unstake_cooldown_seconds(),
        open_disputes_max: u8 = state.open_disputes_max(),
        minimum_stake_tokens: u64 = state.minimum_stake_tokens(),
        slash_tokens: u32 = state.slash_tokens(),
        job_credits_max: u64 = state.job_credits_max(),
        credit_account_credits_max: u64 = state.credit_account_credits_max(),
        treasury_floor_credits: u64 = state.treasury_floor_credits(),
    }

    /// A model
    pub struct ModelPart<'a>(view: &'a AccountView, state: &'a Model) {
        model: &'a Address = view.address(),
        model_sequence: u64 = state.sequence(),
        id: Text<'a> = state.id(),
    }

    /// What a model costs
    pub struct PricesPart<'a>(prices: &'a Prices) {
        credits_per_request: u32 = prices.credits_per_request,
        credits_per_1k_tokens: u32 = prices.credits_per_1k_tokens,
        long_completion_threshold_tokens: u32 = prices.long_completion_threshold_tokens,
    }

    /// What the worker proved
    pub struct OutputPart<'a>(job: &'a Job) {
        output_hash: &'a [u8; 32] = job.output_hash(),
        prompt_tokens: u32 = job.prompt_tokens(),
        completion_tokens: u32 = job.completion_tokens(),
    }

    /// Who took part in a settlement
    pub struct SettledPart<'a>(accounts: &'a SettlementAccounts, settlement: &'a Settlement<'a>) {
        job: JobPart<'a> = JobPart(&accounts.job, settlement.job),
        account: CreditPart<'a> = CreditPart(&accounts.credit_account, settlement.credit_account),
        worker: WorkerPart<'a> = WorkerPart(&accounts.worker, settlement.worker),
        /// The key that signed the settlement and the delivery receipt
        settled_by: &'a Address = settlement.job.settled_by(),
    }

    /// Who was paid what by a settlement
    pub struct PaymentPart<'a>(settlement: &'a Settlement<'a>, payment: &'a Payment) {
        counted_tokens: u32 = settlement.job.counted_tokens(),
        charged_credits: u64 = payment.charged_credits,
        returned_credits: u64 = settlement.job.locked_credits() - payment.charged_credits,
        worker_base_units: u64 = payment.worker_base_units,
        /// False when the amount became claimable instead
        worker_paid: bool = payment.pays_worker,
        treasury_base_units: u64 = payment.treasury_base_units,
        /// False when the amount became unpaid instead
        treasury_paid: bool = payment.pays_treasury,
        worker_claimable_base_units: u64 = settlement.worker.claimable_base_units(),
        jobs_settled: u64 = settlement.worker.jobs_settled(),
        treasury_sequence: u64 = settlement.treasury.sequence(),
        treasury_unpaid_base_units: u64 = settlement.treasury.unpaid_base_units(),
        balance: BalancePart<'a> = BalancePart(settlement.credit_account),
    }
}

events! {
    /// The configuration was created
    pub struct ConfigInitialized<'a> {
        pub terms: TermsPart<'a>,
        pub vault: &'a Address,
        pub treasury_vault: &'a Address,
        pub stake_vault: &'a Address,
        pub stake_decimals: u8,
        pub job_timeout_seconds: u32,
        pub dispute_window_seconds: u32,
        pub arbitration_window_seconds: u32,
    }

    /// The configuration was changed
    pub struct ConfigUpdated<'a> {
        pub terms: TermsPart<'a>,
        pub earlier_floor_credits: u64,
        pub earlier_floor_ends_at: i64,
    }

    /// A new authority was proposed, or the proposal withdrawn
    pub struct AuthorityProposed<'a> {
        pub config_sequence: u64,
        pub authority: &'a Address,
        pub pending_authority: &'a Address,
    }

    /// The proposed authority accepted
    pub struct AuthorityAccepted<'a> {
        pub config_sequence: u64,
        pub authority: &'a Address,
    }

    /// Deposits or locks were paused or resumed
    pub struct PauseSet {
        pub config_sequence: u64,
        pub deposits_paused: bool,
        pub locks_paused: bool,
    }

    /// The authority withdrew from the treasury vault
    pub struct TreasuryWithdrawn<'a> {
        pub authority: &'a Address,
        pub destination: &'a Address,
        pub base_units: u64,
        pub treasury_vault_base_units: u64,
    }

    /// A gateway was opened
    pub struct GatewayOpened<'a> {
        pub gateway: GatewayPart<'a>,
        pub signers: &'a [Address],
        pub stopped: bool,
    }

    /// A gateway's signers or stop flag were set
    pub struct GatewayUpdated<'a> {
        pub gateway: GatewayPart<'a>,
        pub signers: &'a [Address],
        pub stopped: bool,
    }

    /// The authority vouched for a gateway, or no longer does
    pub struct GatewayVouched<'a> {
        pub gateway: GatewayPart<'a>,
        pub vouched: bool,
    }

    /// A model was added or changed
    pub struct ModelUpserted<'a> {
        pub model: ModelPart<'a>,
        pub tier: Byte<Tier>,
        pub label: Text<'a>,
        pub originator: Text<'a>,
        pub context_window_tokens: u32,
        pub prices: PricesPart<'a>,
        pub card_hash: &'a [u8; 32],
        pub created_at: i64,
        pub retires_at: i64,
    }

    /// A model's retirement was announced, or taken back
    pub struct ModelRetired<'a> {
        pub model: ModelPart<'a>,
        pub retires_at: i64,
    }

    /// A credit account was opened
    pub struct CreditOpened<'a> {
        pub account: CreditPart<'a>,
        pub spender: &'a Address,
        pub limits: LimitsPart<'a>,
    }

    /// Credits were bought
    pub struct CreditBought<'a> {
        pub account: CreditPart<'a>,
        pub buyer: &'a Address,
        pub credits: u64,
        pub available_credits: u64,
        pub locked_credits: u64,
    }

    /// Credits were withdrawn as stablecoin
    pub struct CreditWithdrawn<'a> {
        pub account: CreditPart<'a>,
        pub destination: &'a Address,
        pub credits: u64,
        pub available_credits: u64,
        pub locked_credits: u64,
    }

    /// The wallet named its spender and the spender's limits
    pub struct SpenderSet<'a> {
        pub account: CreditPart<'a>,
        pub spender: &'a Address,
        pub limits: LimitsPart<'a>,
    }

    /// The wallet set its spender's limits
    pub struct LimitSet<'a> {
        pub account: CreditPart<'a>,
        pub limits: LimitsPart<'a>,
    }

    /// A worker was registered
    pub struct WorkerRegistered<'a> {
        pub worker: WorkerPart<'a>,
        pub authority: &'a Address,
        pub proof_key: &'a Address,
        pub payout: &'a Address,
        pub endpoint: Text<'a>,
    }

    /// A worker's keys, payout or endpoint were changed
    pub struct WorkerUpdated<'a> {
        pub worker: WorkerPart<'a>,
        pub authority: &'a Address,
        pub proof_key: &'a Address,
        pub previous_proof_key: &'a Address,
        pub proof_key_changed_at: i64,
        pub payout: &'a Address,
        pub endpoint: Text<'a>,
    }

    /// A worker began to host a model
    pub struct WorkerHosted<'a> {
        pub worker: WorkerPart<'a>,
        pub model: &'a Address,
    }

    /// A worker stopped hosting a model
    pub struct WorkerUnhosted<'a> {
        pub worker: WorkerPart<'a>,
        pub model: &'a Address,
    }

    /// A worker was suspended or readmitted
    pub struct WorkerSuspended<'a> {
        pub worker: WorkerPart<'a>,
        pub suspended: bool,
    }

    /// A worker left for good
    pub struct WorkerDeregistered<'a> {
        pub worker: WorkerPart<'a>,
    }

    /// Stake was deposited
    pub struct StakeDeposited<'a> {
        pub worker: WorkerPart<'a>,
        pub tokens: u64,
        pub stake: StakePart<'a>,
        pub unstake_cooldown_seconds: u32,
    }

    /// Stake began its cooldown
    pub struct StakeUnlocked<'a> {
        pub worker: WorkerPart<'a>,
        pub tokens: u64,
        pub stake: StakePart<'a>,
    }

    /// Unstaked tokens were withdrawn
    pub struct StakeWithdrawn<'a> {
        pub worker: WorkerPart<'a>,
        pub tokens: u64,
        pub stake: StakePart<'a>,
        pub destination: &'a Address,
    }

    /// Slashed tokens were burnt
    pub struct SlashBurned {
        pub treasury_sequence: u64,
        pub tokens: u64,
        pub slashed_stake_tokens: u64,
    }

    /// Credits were locked for a job
    pub struct JobLocked<'a> {
        pub job: JobPart<'a>,
        pub account: CreditPart<'a>,
        pub controller: &'a Address,
        pub model: &'a Address,
        pub model_id: Text<'a>,
        pub tier: Byte<Tier>,
        pub token_limit: u32,
        pub prices: PricesPart<'a>,
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

    /// A worker was given the job
    pub struct JobAcknowledged<'a> {
        pub job: JobPart<'a>,
        pub worker: &'a Address,
        pub attempt: u8,
        /// Whose proof counts no more; zero when none was recorded, as the next two
        pub voided_worker: &'a Address,
        pub voided_attempt: u8,
        pub voided_output_hash: &'a [u8; 32],
    }

    /// The worker's proof was recorded
    pub struct JobProven<'a> {
        pub job: JobPart<'a>,
        pub worker: &'a Address,
        pub attempt: u8,
        /// The key that signed the proof
        pub proof_key: &'a Address,
        pub output: OutputPart<'a>,
        pub statement: &'a [u8; 32],
    }

    /// The job was charged and paid
    pub struct JobSettled<'a> {
        pub settled: SettledPart<'a>,
        pub output: OutputPart<'a>,
        pub payment: PaymentPart<'a>,
    }

    /// The job was given to a worker, proven, charged and paid at once
    pub struct JobCompleted<'a> {
        pub settled: SettledPart<'a>,
        pub attempt: u8,
        /// The key that signed the proof
        pub proof_key: &'a Address,
        pub output: OutputPart<'a>,
        pub statement: &'a [u8; 32],
        pub payment: PaymentPart<'a>,
    }

    /// The controller gave the job up
    pub struct JobFailed<'a> {
        pub job: JobPart<'a>,
        pub account: CreditPart<'a>,
        pub reason: Byte<FailureReason>,
        pub returned_credits: u64,
        pub balance: BalancePart<'a>,
    }

    /// The job timed out
    pub struct JobRefunded<'a> {
        pub job: JobPart<'a>,
        pub account: CreditPart<'a>,
        pub returned_credits: u64,
        pub balance: BalancePart<'a>,
    }

    /// A dispute was opened
    pub struct JobDisputed<'a> {
        pub job: JobPart<'a>,
        pub account: CreditPart<'a>,
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

    /// The wallet put its own hash in place of its controller's
    pub struct DisputeAmended<'a> {
        pub job: JobPart<'a>,
        pub credit_account: &'a Address,
        pub wallet: &'a Address,
        pub worker: &'a Address,
        pub client_hash: &'a [u8; 32],
        pub output_hash: &'a [u8; 32],
    }

    /// The arbiter decided a dispute
    pub struct DisputeResolved<'a> {
        pub job: JobPart<'a>,
        pub account: CreditPart<'a>,
        pub worker: WorkerPart<'a>,
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

    /// A dispute ran out undecided
    pub struct DisputeExpired<'a> {
        pub job: JobPart<'a>,
        pub account: CreditPart<'a>,
        pub treasury_sequence: u64,
        pub open_disputes: u8,
        pub disputed_exposure_base_units: u64,
    }

    /// A final job's account was closed
    pub struct JobClosed<'a> {
        pub job: &'a Address,
        /// One past the last
        pub job_sequence: u32,
        pub job_id: &'a [u8; 16],
        pub rent_payer: &'a Address,
        pub rent_lamports: u64,
    }

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
