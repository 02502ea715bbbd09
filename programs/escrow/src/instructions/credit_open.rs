//! Opens a wallet's credit account. Anybody may pay; only the wallet's signature names a spender.
//!
//! The account begins without credits and without limits.
//!
//! Emits `CreditOpened`.
//!
//! # Errors
//! - `MissingSigner`: `spender` is not the zero key, and `wallet` did not sign
//! - `WrongAddress`: `credit_account` is not the wallet's
//! - `AlreadyInitialized`: The wallet has a credit account already

use pinocchio::{AccountView, Address};

use crate::{
    checks::roles::accounts,
    error::{Result, require},
    events::CreditOpened,
    seeds::{CREDIT_ACCOUNT, NONE},
    state::{CreditAccount, creation::Creation},
    wire::{arguments::arguments, event_writer::emit, sysvars::Clock},
};

arguments! {
    pub struct Arguments<'a> {
        /// A key or a gateway; the zero key names none
        spender: &'a Address,
    }
}

accounts! {
    pub struct Accounts {
        /// Pays the rent
        payer: WritableSigner,
        /// Signs only to name a spender
        wallet: Readonly,
        #[pda(CREDIT_ACCOUNT, wallet)]
        credit_account: Writable,
        system_program: SystemProgram,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let arguments = Arguments::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let wallet = accounts.wallet.address();
    require!(arguments.spender == &NONE || accounts.wallet.is_signer(), MissingSigner);
    let clock = Clock::get();

    let credit_account: &mut CreditAccount =
        Creation { payer: &accounts.payer, account: &accounts.credit_account }
            .keyed(CREDIT_ACCOUNT, wallet.as_array())?;
    credit_account.open(wallet, arguments.spender, clock.unix_time);
    credit_account.invariant()?;

    emit(
        &accounts.event_authority,
        &clock,
        &CreditOpened {
            credit_account: accounts.credit_account.address(),
            credit_sequence: credit_account.sequence(),
            wallet,
            spender: arguments.spender,
        },
    );
    Ok(())
}
