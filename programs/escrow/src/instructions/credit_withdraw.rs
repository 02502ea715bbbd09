//! Turns available credits back into stablecoin.
//!
//! Each credit moves `BASE_UNITS_PER_CREDIT` base units out of the vault. A withdrawal can never be
//! paused.
//!
//! Emits `CreditWithdrawn`.
//!
//! # Errors
//! - `Unauthorized`: `wallet` does not own the credit account
//! - `ValueOutOfRange`: `credits` is out of its bounds
//! - `WrongAddress`: `vault` is not the vault
//! - `WrongTokenAccount`: A token account is not an SPL Token account, not initialized or frozen
//! - `WrongMint`: A token account is not of the credit mint
//! - `DuplicateAccount`: `destination` is one of the program's vaults
//! - `InsufficientCredits`

use crate::{
    checks::{accounts, require_address, token},
    error::{Result, require},
    events::{CreditPart, CreditWithdrawn},
    limits::{CREDITS_MAX, base_units},
    seeds::VAULT_ADDRESS,
    state::{Config, CreditAccount},
    wire::{Clock, arguments, load, load_mut},
};

arguments! {
    pub struct Arguments {
        /// From 1 to `CREDITS_MAX`, at most the available credits
        credits: u64,
    }
}

accounts! {
    pub struct Accounts {
        /// Owns the credit account
        wallet: Signer,
        config: Readonly,
        #[pda(CREDIT_ACCOUNT, wallet)]
        credit_account: Writable,
        vault: Writable,
        vault_authority: VaultAuthority,
        /// A token account of the credit mint, none of the vaults
        destination: Writable,
        token_program: TokenProgram,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, arguments: Arguments) -> Result {
    let config: &Config = load(&accounts.config)?;
    let credit_account: &mut CreditAccount = load_mut(&accounts.credit_account)?;
    credit_account.require_wallet(accounts.wallet.address())?;
    require!((1..=CREDITS_MAX).contains(&arguments.credits), ValueOutOfRange);

    // token accounts
    require_address(&accounts.vault, &VAULT_ADDRESS)?;
    token::usable(&accounts.vault, config.credit_mint())?;
    token::usable(&accounts.destination, config.credit_mint())?;
    token::require_foreign(&accounts.destination)?;

    credit_account.withdraw(arguments.credits)?;
    credit_account.changed()?;
    token::pay(
        &accounts.vault,
        &accounts.destination,
        &accounts.vault_authority,
        base_units(arguments.credits)?,
    )?;

    CreditWithdrawn {
        account: CreditPart(&accounts.credit_account, credit_account),
        destination: accounts.destination.address(),
        credits: arguments.credits,
        available_credits: credit_account.available_credits(),
        locked_credits: credit_account.locked_credits(),
    }
    .emit(&accounts.event_authority, &Clock::get())
}
