//! Pays out of the treasury vault, which keeps what is owed, what open disputes may cost and the
//! configuration's floor.
//!
//! A floor that was lowered counts for `TREASURY_FLOOR_NOTICE_SECONDS` more.
//!
//! Emits `TreasuryWithdrawn`.
//!
//! # Errors
//! - `Unauthorized`: `authority` is not the configuration's authority
//! - `ValueOutOfRange`: `base_units` is zero
//! - `WrongAddress`: `treasury_vault` is not the treasury vault
//! - `WrongTokenAccount`: A token account is not an SPL Token account, not initialized or frozen
//! - `WrongMint`: A token account is not of the credit mint
//! - `TreasuryReserved`: Less than `base_units` lies free above what is owed, disputed and the
//!   floor
//! - `DuplicateAccount`: `destination` is one of the program's vaults

use crate::{
    checks::{accounts, require_address, token},
    error::{OrOverflow, Result, require},
    events::TreasuryWithdrawn,
    limits::base_units,
    seeds::TREASURY_VAULT_ADDRESS,
    state::{Config, Treasury},
    wire::{Clock, arguments, load},
};

arguments! {
    pub struct Arguments {
        /// At least 1
        base_units: u64,
    }
}

accounts! {
    pub struct Accounts {
        authority: Signer,
        config: Readonly,
        treasury: Readonly,
        treasury_vault: Writable,
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
    let treasury: &Treasury = load(&accounts.treasury)?;
    config.require_authority(accounts.authority.address())?;
    require!(arguments.base_units >= 1, ValueOutOfRange);
    let clock = Clock::get();

    // treasury_vault: keeps what is owed, what disputes may add, and the floor
    require_address(&accounts.treasury_vault, &TREASURY_VAULT_ADDRESS)?;
    let held = token::usable(&accounts.treasury_vault, config.credit_mint())?.amount();
    let floor = base_units(config.treasury_floor_in_force_credits(clock.unix_time))?;
    let kept = treasury.reserved_base_units()?.checked_add(floor).or_overflow()?;
    let free = held.saturating_sub(kept);
    require!(arguments.base_units <= free, TreasuryReserved);

    // destination
    token::usable(&accounts.destination, config.credit_mint())?;
    token::require_foreign(&accounts.destination)?;

    token::pay(
        &accounts.treasury_vault,
        &accounts.destination,
        &accounts.vault_authority,
        arguments.base_units,
    )?;

    TreasuryWithdrawn {
        authority: accounts.authority.address(),
        destination: accounts.destination.address(),
        base_units: arguments.base_units,
        treasury_vault_base_units: held - arguments.base_units,
    }
    .emit(&accounts.event_authority, &clock)
}
