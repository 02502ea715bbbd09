//! Sets the limits that bind the spender.
//!
//! The wallet's own locks have no limit but its available credits. A day is one of UTC.
//!
//! Emits `LimitSet`.
//!
//! # Errors
//! - `Unauthorized`: `wallet` does not own the credit account
//! - `SpenderNotSet`: The wallet named no spender

use crate::{
    checks::accounts,
    error::Result,
    events::{CreditPart, LimitSet, LimitsPart},
    state::{CreditAccount, credit_account::Limits},
    wire::{Clock, arguments, load_mut},
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

#[inline(always)]
pub fn process(accounts: Accounts, arguments: Arguments) -> Result {
    let credit_account: &mut CreditAccount = load_mut(&accounts.credit_account)?;
    credit_account.require_wallet(accounts.wallet.address())?;

    credit_account.set_limits(&Limits {
        per_job_credits: arguments.limit_per_job_credits,
        per_day_credits: arguments.limit_per_day_credits,
    })?;
    credit_account.changed()?;

    LimitSet {
        account: CreditPart(&accounts.credit_account, credit_account),
        limits: LimitsPart(credit_account),
    }
    .emit(&accounts.event_authority, &Clock::get())
}
