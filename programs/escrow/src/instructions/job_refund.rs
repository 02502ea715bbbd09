//! Returns the lock of a job that timed out. Anybody may call it.
//!
//! Emits `JobRefunded`.
//!
//! # Errors
//! - `WrongAddress`: `credit_account` is not the job's
//! - `WrongJobStatus`: The job is not pending, processing or settling
//! - `DeadlineNotReached`: No more than `JOB_TIMEOUT_SECONDS` have passed since the lock

use pinocchio::AccountView;

use crate::{
    checks::roles::accounts,
    error::Result,
    events::JobRefunded,
    state::{CreditAccount, Job},
    wire::{arguments::arguments, event_writer::emit, layout::load_mut, sysvars::Clock},
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

#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    Arguments::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let job: &mut Job = load_mut(&accounts.job)?;
    let credit_account: &mut CreditAccount = load_mut(&accounts.credit_account)?;
    job.require_credit_account(accounts.credit_account.address())?;
    let clock = Clock::get();

    job.refund(clock.unix_time)?;
    credit_account.unlock(job, 0)?;
    job.changed()?;
    credit_account.changed()?;

    emit(
        &accounts.event_authority,
        &clock,
        &JobRefunded {
            job: accounts.job.address(),
            job_sequence: job.sequence(),
            job_id: job.job_id(),
            credit_account: job.credit_account(),
            credit_sequence: credit_account.sequence(),
            wallet: credit_account.wallet(),
            returned_credits: job.locked_credits(),
            available_credits: credit_account.available_credits(),
            account_locked_credits: credit_account.locked_credits(),
            spent_today_credits: credit_account.spent_today_credits(),
        },
    );
    Ok(())
}
