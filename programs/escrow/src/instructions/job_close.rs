//! Closes a final job's account and repays its rent. Anybody may call it.
//!
//! A failed or refunded job is final, and a settled one after its dispute or the dispute window.
//! `JOB_ID_CLOSE_MS_MIN` also have to pass after the id's time.
//!
//! Emits `JobClosed`.
//!
//! # Errors
//! - `WrongRentPayer`
//! - `JobNotClosable`

use crate::{
    checks::accounts,
    error::{OrOverflow, Result, require},
    events::JobClosed,
    state::Job,
    wire::{Clock, arguments, load},
};

arguments! {
    pub struct Arguments {}
}

accounts! {
    pub struct Accounts {
        job: Writable,
        /// The account that paid the rent at the lock
        rent_payer: Writable,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(always)]
pub fn process(mut accounts: Accounts, _: Arguments) -> Result {
    let clock = Clock::get();
    let job: &Job = load(&accounts.job)?;
    require!(accounts.rent_payer.address() == job.rent_payer(), WrongRentPayer);
    job.require_closable(clock.unix_time)?;

    // The event is written first, while the account can still be read.
    let rent_lamports = accounts.job.lamports();
    JobClosed {
        job: accounts.job.address(),
        job_sequence: job.sequence().checked_add(1).or_overflow()?,
        job_id: job.job_id(),
        rent_payer: accounts.rent_payer.address(),
        rent_lamports,
    }
    .emit(&accounts.event_authority, &clock)?;

    let total = accounts.rent_payer.lamports().checked_add(rent_lamports).or_overflow()?;
    accounts.rent_payer.set_lamports(total);
    // The account is the System program's again, and empty: lamports sent here later in the same
    // transaction revive nothing.
    //
    // SAFETY: `job` is the one reference to the account's data, and it is not used again.
    unsafe { accounts.job.close_unchecked() };
    Ok(())
}
