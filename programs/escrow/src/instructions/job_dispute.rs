//! Disputes a settled job with the hash the client received.
//!
//! A job can be disputed once, within `DISPUTE_WINDOW_SECONDS` of its settlement. Until the dispute
//! ends, the treasury reserves what it would repay. That is the charge, or its own share of it if
//! the job was not locked through a vouched gateway.
//!
//! The wallet may amend a dispute that its controller opened, once: its own hash then takes the
//! other's place. Everything else stays.
//!
//! Emits `JobDisputed`, or `DisputeAmended`.
//!
//! # Errors
//! - `WrongAddress`: `credit_account` is not the job's
//! - `Unauthorized`: `signer` is not the wallet and does not act for the job's controller
//! - `AlreadyDisputed`
//! - `WrongJobStatus`: The job is not settled
//! - `DisputeWindowClosed`: More than `DISPUTE_WINDOW_SECONDS` have passed since the settlement
//! - `ArbitrationClosed`: The dispute to amend was opened over `ARBITRATION_WINDOW_SECONDS` ago
//! - `HashesEqual`: `client_hash` is the proven one
//! - `DisputeLimitReached`: The wallet has `open_disputes_max` open disputes, or twice as many if
//!   it signs itself

use crate::{
    checks::{accounts, controller::Actor},
    error::{Result, require},
    events::{CreditPart, DisputeAmended, JobDisputed, JobPart},
    limits::base_units,
    state::{Config, CreditAccount, Job, Treasury},
    wire::{Clock, arguments, load, load_mut},
};

arguments! {
    pub struct Arguments<'a> {
        /// The sha256 of what the client received; differs from the proven one
        client_hash: &'a [u8; 32],
    }
}

accounts! {
    pub struct Accounts {
        /// The controller, one of its signers, or the wallet
        signer: Signer,
        /// Given when the controller is a gateway
        gateway: Optional,
        config: Readonly,
        job: Writable,
        /// The job's credit account
        credit_account: Writable,
        treasury: Writable,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, arguments: Arguments) -> Result {
    let config: &Config = load(&accounts.config)?;
    let job: &mut Job = load_mut(&accounts.job)?;
    let credit_account: &mut CreditAccount = load_mut(&accounts.credit_account)?;
    let treasury: &mut Treasury = load_mut(&accounts.treasury)?;
    job.require_credit_account(accounts.credit_account.address())?;
    let actor = Actor { signer: &accounts.signer, gateway: accounts.gateway.as_ref() };
    let is_wallet = accounts.signer.address() == credit_account.wallet();
    require!(is_wallet || actor.acts_for(job.controller())?, Unauthorized);
    let clock = Clock::get();

    if is_wallet && job.is_amendable() {
        job.amend_dispute(arguments.client_hash, clock.unix_time)?;
        job.changed()?;
        return DisputeAmended {
            job: JobPart(&accounts.job, job),
            credit_account: job.credit_account(),
            wallet: credit_account.wallet(),
            worker: job.worker(),
            client_hash: job.client_hash(),
            output_hash: job.output_hash(),
        }
        .emit(&accounts.event_authority, &clock);
    }

    let arbitration_ends_at = job.dispute(arguments.client_hash, is_wallet, clock.unix_time)?;
    credit_account.open_dispute(config.open_disputes_max(), is_wallet)?;
    let repayable_credits = job.repayable_credits()?;
    treasury.expose(base_units(repayable_credits)?)?;
    job.changed()?;
    credit_account.changed()?;
    treasury.changed()?;

    JobDisputed {
        job: JobPart(&accounts.job, job),
        account: CreditPart(&accounts.credit_account, credit_account),
        treasury_sequence: treasury.sequence(),
        worker: job.worker(),
        client_hash: job.client_hash(),
        output_hash: job.output_hash(),
        charged_credits: job.charged_credits(),
        repayable_credits,
        disputed_by_wallet: job.disputed_by_wallet(),
        open_disputes: credit_account.open_disputes(),
        disputed_exposure_base_units: treasury.disputed_exposure_base_units(),
        arbitration_ends_at,
    }
    .emit(&accounts.event_authority, &clock)
}
