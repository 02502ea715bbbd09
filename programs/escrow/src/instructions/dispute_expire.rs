//! Ends a dispute that was not decided in time. Anybody may call it.
//!
//! The job is settled again, and the charge stays with worker and treasury.
//!
//! Emits `DisputeExpired`.
//!
//! # Errors
//! - `WrongAddress`: `credit_account` is not the job's
//! - `WrongJobStatus`: The job is not disputed
//! - `ArbitrationOpen`: No more than `ARBITRATION_WINDOW_SECONDS` have passed since the dispute was
//!   opened

use crate::{
    checks::accounts,
    error::Result,
    events::{CreditPart, DisputeExpired, JobPart},
    limits::base_units,
    state::{CreditAccount, Job, Treasury},
    wire::{Clock, arguments, load_mut},
};

arguments! {
    pub struct Arguments {}
}

accounts! {
    pub struct Accounts {
        job: Writable,
        /// The job's credit account
        credit_account: Writable,
        treasury: Writable,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, _: Arguments) -> Result {
    let job: &mut Job = load_mut(&accounts.job)?;
    let credit_account: &mut CreditAccount = load_mut(&accounts.credit_account)?;
    let treasury: &mut Treasury = load_mut(&accounts.treasury)?;
    job.require_credit_account(accounts.credit_account.address())?;
    let clock = Clock::get();

    job.expire(clock.unix_time)?;
    credit_account.close_dispute()?;
    treasury.release(base_units(job.repayable_credits()?)?)?;
    job.changed()?;
    credit_account.changed()?;
    treasury.changed()?;

    DisputeExpired {
        job: JobPart(&accounts.job, job),
        account: CreditPart(&accounts.credit_account, credit_account),
        treasury_sequence: treasury.sequence(),
        open_disputes: credit_account.open_disputes(),
        disputed_exposure_base_units: treasury.disputed_exposure_base_units(),
    }
    .emit(&accounts.event_authority, &clock)
}
