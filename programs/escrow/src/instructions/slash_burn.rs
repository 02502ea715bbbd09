//! Burns the tokens that verdicts took from workers. Anybody may call it.
//!
//! Neither the arbiter nor the treasury gets them, so neither gains by a verdict.
//!
//! Emits `SlashBurned`.
//!
//! # Errors
//! - `WrongAddress`: `stake_vault` is not the stake vault
//! - `WrongTokenAccount`: `stake_vault` is frozen
//! - `WrongMint`: `stake_mint` is not the stake mint
//! - `NothingToClaim`: No slashed tokens lie in the stake vault

use crate::{
    checks::{accounts, require_address, token},
    error::{Result, require},
    events::SlashBurned,
    seeds::STAKE_VAULT_ADDRESS,
    state::{Config, Treasury},
    wire::{Clock, arguments, load, load_mut},
};

arguments! {
    pub struct Arguments {}
}

accounts! {
    pub struct Accounts {
        config: Readonly,
        treasury: Writable,
        stake_vault: Writable,
        stake_mint: Writable,
        vault_authority: VaultAuthority,
        token_program: TokenProgram,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, _: Arguments) -> Result {
    let config: &Config = load(&accounts.config)?;
    let treasury: &mut Treasury = load_mut(&accounts.treasury)?;
    require_address(&accounts.stake_vault, &STAKE_VAULT_ADDRESS)?;
    token::usable(&accounts.stake_vault, config.stake_mint())?;
    require!(accounts.stake_mint.address() == config.stake_mint(), WrongMint);

    let tokens = treasury.burn_slashed()?;
    treasury.changed()?;
    token::burn(
        &accounts.stake_vault,
        &accounts.stake_mint,
        &accounts.vault_authority,
        config.stake_base_units(tokens)?,
    )?;

    SlashBurned {
        treasury_sequence: treasury.sequence(),
        tokens,
        slashed_stake_tokens: treasury.slashed_stake_tokens(),
    }
    .emit(&accounts.event_authority, &Clock::get())
}
