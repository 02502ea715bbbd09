//! Pays out the unstaking tokens after their cooldown.
//!
//! Emits `StakeWithdrawn`.
//!
//! # Errors
//! - `Unauthorized`: `authority` is not the worker's authority
//! - `WrongAddress`: `stake_vault` is not the stake vault
//! - `WrongTokenAccount`: A token account is not an SPL Token account, not initialized or frozen
//! - `WrongMint`: A token account is not of the stake mint
//! - `DuplicateAccount`: `destination` is one of the program's vaults
//! - `NothingToClaim`: No tokens are unstaking
//! - `CooldownNotOver`

use crate::{
    checks::{accounts, require_address, token},
    error::Result,
    events::{StakePart, StakeWithdrawn, WorkerPart},
    seeds::STAKE_VAULT_ADDRESS,
    state::{Config, Worker},
    wire::{Clock, arguments, load, load_mut},
};

arguments! {
    pub struct Arguments {}
}

accounts! {
    pub struct Accounts {
        authority: Signer,
        config: Readonly,
        #[pda(WORKER, authority)]
        worker: Writable,
        stake_vault: Writable,
        vault_authority: VaultAuthority,
        /// A token account of the stake mint, none of the vaults
        destination: Writable,
        token_program: TokenProgram,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, _: Arguments) -> Result {
    let config: &Config = load(&accounts.config)?;
    let worker: &mut Worker = load_mut(&accounts.worker)?;
    worker.require_authority(accounts.authority.address())?;
    let clock = Clock::get();

    // token accounts
    require_address(&accounts.stake_vault, &STAKE_VAULT_ADDRESS)?;
    token::usable(&accounts.stake_vault, config.stake_mint())?;
    token::usable(&accounts.destination, config.stake_mint())?;
    token::require_foreign(&accounts.destination)?;

    let tokens = worker.withdraw(clock.unix_time)?;
    worker.changed()?;
    token::pay(
        &accounts.stake_vault,
        &accounts.destination,
        &accounts.vault_authority,
        config.stake_base_units(tokens)?,
    )?;

    StakeWithdrawn {
        worker: WorkerPart(&accounts.worker, worker),
        tokens,
        stake: StakePart(worker),
        destination: accounts.destination.address(),
    }
    .emit(&accounts.event_authority, &clock)
}
