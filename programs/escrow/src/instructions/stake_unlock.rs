//! Starts the cooldown of whole tokens; while any are unstaking, the worker gets no job.
//!
//! The cooldown is the lowest at any of the worker's deposits since it had nothing staked. Every
//! call restarts it for all that is unstaking. A verdict can still take these tokens.
//!
//! Emits `StakeUnlocked`.
//!
//! # Errors
//! - `Unauthorized`: `authority` is not the worker's authority
//! - `ValueOutOfRange`: `tokens` is zero
//! - `InsufficientStake`: The worker has less than `tokens` at stake

use crate::{
    checks::accounts,
    error::{Result, require},
    events::{StakePart, StakeUnlocked, WorkerPart},
    state::Worker,
    wire::{Clock, arguments, load_mut},
};

arguments! {
    pub struct Arguments {
        /// At least 1, at most what is at stake
        tokens: u64,
    }
}

accounts! {
    pub struct Accounts {
        authority: Signer,
        #[pda(WORKER, authority)]
        worker: Writable,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, arguments: Arguments) -> Result {
    let worker: &mut Worker = load_mut(&accounts.worker)?;
    worker.require_authority(accounts.authority.address())?;
    require!(arguments.tokens >= 1, ValueOutOfRange);
    let clock = Clock::get();

    worker.unlock(arguments.tokens, clock.unix_time)?;
    worker.changed()?;

    StakeUnlocked {
        worker: WorkerPart(&accounts.worker, worker),
        tokens: arguments.tokens,
        stake: StakePart(worker),
    }
    .emit(&accounts.event_authority, &clock)
}
