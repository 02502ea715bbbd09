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

use pinocchio::{AccountView, Address};

use crate::{
    checks::roles::accounts,
    error::Result,
    events::SpenderSet,
    state::{CreditAccount, credit_account::Limits},
    wire::{arguments::arguments, event_writer::emit, layout::load_mut, sysvars::Clock},
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

#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let arguments = Arguments::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let credit_account: &mut CreditAccount = load_mut(&accounts.credit_account)?;
    credit_account.require_wallet(accounts.wallet.address())?;

    let limits = Limits {
        per_job_credits: arguments.limit_per_job_credits,
        per_day_credits: arguments.limit_per_day_credits,
    };
    credit_account.set_spender(arguments.spender, &limits)?;
    credit_account.changed()?;

    emit(
        &accounts.event_authority,
        &Clock::get(),
        &SpenderSet {
            credit_account: accounts.credit_account.address(),
            credit_sequence: credit_account.sequence(),
            wallet: credit_account.wallet(),
            spender: credit_account.spender(),
            limit_per_job_credits: credit_account.limit_per_job_credits(),
            limit_per_day_credits: credit_account.limit_per_day_credits(),
        },
    );
    Ok(())
}
