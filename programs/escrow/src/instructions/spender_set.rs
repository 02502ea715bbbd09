//! Names the key or gateway that may lock the wallet's credits; the zero key names none.
//!
//! Jobs that the spender of before has locked go on.
//!
//! Emits `SpenderSet`.
//!
//! # Errors
//! - `Unauthorized`: `wallet` does not own the credit account

use pinocchio::{AccountView, Address};

use crate::{
    checks::roles::accounts,
    error::Result,
    events::SpenderSet,
    state::CreditAccount,
    wire::{arguments::arguments, event_writer::emit, layout::load_mut, sysvars::Clock},
};

arguments! {
    pub struct Arguments<'a> {
        /// A key or a gateway; the zero key names none
        spender: &'a Address,
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

    credit_account.set_spender(arguments.spender);
    credit_account.changed()?;

    emit(
        &accounts.event_authority,
        &Clock::get(),
        &SpenderSet {
            credit_account: accounts.credit_account.address(),
            credit_sequence: credit_account.sequence(),
            wallet: credit_account.wallet(),
            spender: credit_account.spender(),
        },
    );
    Ok(())
}
