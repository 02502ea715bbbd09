//! Decides a dispute.
//!
//! A rejected dispute leaves the job settled. An upheld one makes it refunded, and the treasury
//! owes the charge to the wallet until `claim_pay`.
//!
//! A verdict against the worker also takes the job's `slash_tokens` from its stake, or what is left
//! of it.
//!
//! Emits `DisputeResolved`.
//!
//! # Errors
//! - `Unauthorized`: `arbiter` is not the configuration's arbiter
//! - `WrongAddress`: `credit_account` or `worker` is not the job's
//! - `InvalidVerdict`
//! - `WrongJobStatus`: The job is not disputed
//! - `ArbitrationClosed`: More than `ARBITRATION_WINDOW_SECONDS` have passed since the dispute was
//!   opened

use pinocchio::AccountView;

use crate::{
    checks::roles::accounts,
    error::Result,
    events::DisputeResolved,
    limits::base_units,
    state::{Config, CreditAccount, Job, Treasury, Worker, job::DisputeOutcome},
    wire::{
        arguments::arguments,
        byte::Byte,
        event_writer::emit,
        layout::{load, load_mut},
        sysvars::Clock,
    },
};

arguments! {
    pub struct Arguments<'a> {
        /// rejected, upheld_gateway or upheld_worker
        verdict: Byte<DisputeOutcome>,
        /// The sha256 of the evidence the verdict rests on
        evidence_hash: &'a [u8; 32],
    }
}

accounts! {
    pub struct Accounts {
        arbiter: Signer,
        config: Readonly,
        job: Writable,
        /// The job's credit account
        credit_account: Writable,
        treasury: Writable,
        /// The job's worker
        worker: Writable,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let arguments = Arguments::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    load::<Config>(&accounts.config)?.require_arbiter(accounts.arbiter.address())?;
    let job: &mut Job = load_mut(&accounts.job)?;
    let credit_account: &mut CreditAccount = load_mut(&accounts.credit_account)?;
    let treasury: &mut Treasury = load_mut(&accounts.treasury)?;
    let worker: &mut Worker = load_mut(&accounts.worker)?;
    job.require_credit_account(accounts.credit_account.address())?;
    job.require_worker(accounts.worker.address())?;
    let outcome = DisputeOutcome::from_verdict(arguments.verdict)?;
    let clock = Clock::get();

    let charged = job.resolve(outcome, clock.unix_time)?;
    credit_account.close_dispute()?;
    let repaid_credits = if outcome == DisputeOutcome::Rejected {
        treasury.release(base_units(charged)?)?;
        0
    } else {
        treasury.owe(base_units(charged)?)?;
        credit_account.owe(charged)?;
        charged
    };
    let mut slashed_tokens = 0;
    if outcome == DisputeOutcome::UpheldWorker {
        slashed_tokens = worker.slash(u64::from(job.slash_tokens()))?;
        treasury.add_slashed(slashed_tokens)?;
    }
    if slashed_tokens > 0 {
        worker.changed()?;
    }
    job.changed()?;
    credit_account.changed()?;
    treasury.changed()?;

    emit(
        &accounts.event_authority,
        &clock,
        &DisputeResolved {
            job: accounts.job.address(),
            job_sequence: job.sequence(),
            job_id: job.job_id(),
            credit_account: job.credit_account(),
            credit_sequence: credit_account.sequence(),
            wallet: credit_account.wallet(),
            worker: job.worker(),
            worker_sequence: worker.sequence(),
            treasury_sequence: treasury.sequence(),
            verdict: arguments.verdict,
            evidence_hash: arguments.evidence_hash,
            repaid_credits,
            owed_credits: credit_account.owed_credits(),
            open_disputes: credit_account.open_disputes(),
            owed_base_units: treasury.owed_base_units(),
            disputed_exposure_base_units: treasury.disputed_exposure_base_units(),
            slashed_tokens,
            slashed_stake_tokens: treasury.slashed_stake_tokens(),
            stake_tokens: worker.stake_tokens(),
            unstaking_tokens: worker.unstaking_tokens(),
        },
    );
    Ok(())
}
