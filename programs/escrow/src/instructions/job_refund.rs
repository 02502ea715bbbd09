//! Returns the lock of a job that timed out. Anybody may call it.
//!
//! Emits `JobRefunded`.
//!
//! # Errors
//! - `WrongAddress`: `credit_account` is not the job's
//! - `WrongJobStatus`: The job is not pending, processing or settling
//! - `DeadlineNotReached`: No more than `JOB_TIMEOUT_SECONDS` have passed since the lock

use crate::{
    checks::accounts,
    error::Result,
    events::{BalancePart, CreditPart, JobPart, JobRefunded},
    state::{CreditAccount, Job},
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
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, _: Arguments) -> Result {
    let job: &mut Job = load_mut(&accounts.job)?;
    let credit_account: &mut CreditAccount = load_mut(&accounts.credit_account)?;
    job.require_credit_account(accounts.credit_account.address())?;
    let clock = Clock::get();

    job.refund(clock.unix_time)?;
    credit_account.unlock(job, 0)?;
    job.changed()?;
    credit_account.changed()?;

    JobRefunded {
        job: JobPart(&accounts.job, job),
        account: CreditPart(&accounts.credit_account, credit_account),
        returned_credits: job.locked_credits(),
        balance: BalancePart(credit_account),
    }
    .emit(&accounts.event_authority, &clock)
}
