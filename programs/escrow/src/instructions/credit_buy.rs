//! Buys credits for a wallet. Anybody may pay.
//!
//! Each credit moves `BASE_UNITS_PER_CREDIT` base units from the buyer into the vault.
//!
//! Emits `CreditBought`.
//!
//! # Errors
//! - `DepositsPaused`
//! - `ValueOutOfRange`: `credits` is out of its bounds
//! - `WrongTokenAccount`: A token account is not an SPL Token account, not initialized or frozen
//! - `WrongMint`: A token account is not of the credit mint
//! - `DuplicateAccount`: `buyer_token_account` is one of the program's vaults
//! - `WrongAddress`: `vault` is not the vault
//! - `CreditAccountFull`: The account would hold more than `credit_account_credits_max` of the
//!   configuration

use crate::{
    checks::{accounts, require_address, token},
    error::{Result, require},
    events::{CreditBought, CreditPart},
    limits::{CREDITS_MAX, base_units},
    seeds::VAULT_ADDRESS,
    state::{Config, CreditAccount},
    wire::{Clock, arguments, load, load_mut},
};

arguments! {
    pub struct Arguments {
        /// From 1 to `CREDITS_MAX`
        credits: u64,
    }
}

accounts! {
    pub struct Accounts {
        /// Owns the tokens, or is their delegate
        buyer: Signer,
        /// A token account of the credit mint, none of the vaults
        buyer_token_account: Writable,
        config: Readonly,
        #[pda(CREDIT_ACCOUNT, wallet)]
        credit_account: Writable,
        vault: Writable,
        token_program: TokenProgram,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, arguments: Arguments) -> Result {
    let config: &Config = load(&accounts.config)?;
    let credit_account: &mut CreditAccount = load_mut(&accounts.credit_account)?;
    let clock = Clock::get();
    require!(!config.deposits_paused(), DepositsPaused);
    require!((1..=CREDITS_MAX).contains(&arguments.credits), ValueOutOfRange);

    // token accounts: SPL Token checks that the buyer may spend
    token::usable(&accounts.buyer_token_account, config.credit_mint())?;
    token::require_foreign(&accounts.buyer_token_account)?;
    require_address(&accounts.vault, &VAULT_ADDRESS)?;
    token::usable(&accounts.vault, config.credit_mint())?;

    credit_account.buy(arguments.credits, config.credit_account_credits_max(), clock.unix_time)?;
    credit_account.changed()?;
    token::deposit(
        &accounts.buyer_token_account,
        &accounts.vault,
        &accounts.buyer,
        base_units(arguments.credits)?,
    )?;

    CreditBought {
        account: CreditPart(&accounts.credit_account, credit_account),
        buyer: accounts.buyer.address(),
        credits: arguments.credits,
        available_credits: credit_account.available_credits(),
        locked_credits: credit_account.locked_credits(),
    }
    .emit(&accounts.event_authority, &clock)
}
