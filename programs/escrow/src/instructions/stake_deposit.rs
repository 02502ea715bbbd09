//! Adds whole tokens to a worker's stake. Anybody may pay.
//!
//! The tokens count as the worker's, whichever key paid. The cooldown of this moment binds its
//! unlocks from then on, unless a lower one does.
//!
//! Emits `StakeDeposited`.
//!
//! # Errors
//! - `ValueOutOfRange`: `tokens` is zero, or the worker would hold more than `STAKE_TOKENS_MAX`
//! - `WrongTokenAccount`: A token account is not an SPL Token account, not initialized or frozen
//! - `WrongMint`: A token account is not of the stake mint
//! - `DuplicateAccount`: `depositor_token_account` is one of the program's vaults
//! - `WrongAddress`: `stake_vault` is not the stake vault
//! - `WrongWorkerStatus`: The worker is deregistered

use crate::{
    checks::{accounts, require_address, token},
    error::{Result, require},
    events::{StakeDeposited, StakePart, WorkerPart},
    seeds::STAKE_VAULT_ADDRESS,
    state::{Config, Worker},
    wire::{Clock, arguments, load, load_mut},
};

arguments! {
    pub struct Arguments {
        /// At least 1; with what the worker has, at most `STAKE_TOKENS_MAX`
        tokens: u64,
    }
}

accounts! {
    pub struct Accounts {
        /// Owns the tokens, or is their delegate
        depositor: Signer,
        /// A token account of the stake mint, none of the vaults
        depositor_token_account: Writable,
        config: Readonly,
        worker: Writable,
        stake_vault: Writable,
        token_program: TokenProgram,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, arguments: Arguments) -> Result {
    let config: &Config = load(&accounts.config)?;
    let worker: &mut Worker = load_mut(&accounts.worker)?;
    require!(arguments.tokens >= 1, ValueOutOfRange);

    // token accounts: SPL Token checks that the depositor may spend
    token::usable(&accounts.depositor_token_account, config.stake_mint())?;
    token::require_foreign(&accounts.depositor_token_account)?;
    require_address(&accounts.stake_vault, &STAKE_VAULT_ADDRESS)?;
    token::usable(&accounts.stake_vault, config.stake_mint())?;

    worker.stake(arguments.tokens, config.unstake_cooldown_seconds())?;
    worker.changed()?;
    token::deposit(
        &accounts.depositor_token_account,
        &accounts.stake_vault,
        &accounts.depositor,
        config.stake_base_units(arguments.tokens)?,
    )?;

    StakeDeposited {
        worker: WorkerPart(&accounts.worker, worker),
        tokens: arguments.tokens,
        stake: StakePart(worker),
        unstake_cooldown_seconds: worker.unstake_cooldown_seconds(),
    }
    .emit(&accounts.event_authority, &Clock::get())
}
