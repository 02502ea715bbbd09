//! Sets the limits that bind the spender.
//!
//! The wallet's own locks have no limit but its available credits. A day is one of UTC.
//!
//! Emits `LimitSet`.
//!
//! # Errors
//! - `Unauthorized`: `wallet` does not own the credit account
//! - `SpenderNotSet`: The wallet named no spender

use pinocchio::AccountView;

use crate::{
    checks::roles::accounts,
    error::Result,
    events::LimitSet,
    state::{CreditAccount, credit_account::Limits},
    wire::{arguments::arguments, event_writer::emit, layout::load_mut, sysvars::Clock},
};

arguments! {
    pub struct Arguments {
        /// The largest number means no limit
        limit_per_job_credits: u64,
        /// The largest number means no limit
        limit_per_day_credits: u64,
    }
}

accounts! {
    pub struct Accounts {
        /// Owns the credit account
        wallet: Signer,
        #[pda(CREDIT_ACCOUNT, wallet)]
        credit_account: Writable,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let arguments = Arguments::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let credit_account: &mut CreditAccount = load_mut(&accounts.credit_account)?;
    credit_account.require_wallet(accounts.wallet.address())?;

    credit_account.set_limits(&Limits {
        per_job_credits: arguments.limit_per_job_credits,
        per_day_credits: arguments.limit_per_day_credits,
    })?;
    credit_account.changed()?;

    emit(
        &accounts.event_authority,
        &Clock::get(),
        &LimitSet {
            credit_account: accounts.credit_account.address(),
            credit_sequence: credit_account.sequence(),
            wallet: credit_account.wallet(),
            limit_per_job_credits: credit_account.limit_per_job_credits(),
            limit_per_day_credits: credit_account.limit_per_day_credits(),
        },
    );
    Ok(())
}
