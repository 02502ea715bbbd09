//! Names the key or gateway that may lock the wallet's credits, and its limits; the zero key names
//! none.
//!
//! Jobs that the former spender has locked go on. What was locked today counts for the new
//! spender, too.
//!
//! Emits `SpenderSet`.
//!
//! # Errors
//! - `Unauthorized`: `wallet` does not own the credit account
//! - `ValueOutOfRange`: A limit is given without a spender

use pinocchio::Address;

use crate::{
    checks::accounts,
    error::Result,
    events::{CreditPart, LimitsPart, SpenderSet},
    state::{CreditAccount, credit_account::Limits},
    wire::{Clock, arguments, load_mut},
};

arguments! {
    pub struct Arguments<'a> {
        /// A key or a gateway; the zero key names none
        spender: &'a Address,
        /// The largest number means no limit; zero without a spender
        limit_per_job_credits: u64,
        /// The largest number means no limit; zero without a spender
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

    let limits = Limits {
        per_job_credits: arguments.limit_per_job_credits,
        per_day_credits: arguments.limit_per_day_credits,
    };
    credit_account.set_spender(arguments.spender, &limits)?;
    credit_account.changed()?;

    SpenderSet {
        account: CreditPart(&accounts.credit_account, credit_account),
        spender: credit_account.spender(),
        limits: LimitsPart(credit_account),
    }
    .emit(&accounts.event_authority, &Clock::get())
}
