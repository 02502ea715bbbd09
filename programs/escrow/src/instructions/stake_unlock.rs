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

use pinocchio::AccountView;

use crate::{
    checks::roles::accounts,
    error::{Result, require},
    events::StakeUnlocked,
    state::Worker,
    wire::{arguments::arguments, event_writer::emit, layout::load_mut, sysvars::Clock},
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

#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let arguments = Arguments::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let worker: &mut Worker = load_mut(&accounts.worker)?;
    worker.require_authority(accounts.authority.address())?;
    require!(arguments.tokens >= 1, ValueOutOfRange);
    let clock = Clock::get();

    worker.unlock(arguments.tokens, clock.unix_time)?;
    worker.changed()?;

    emit(
        &accounts.event_authority,
        &clock,
        &StakeUnlocked {
            worker: accounts.worker.address(),
            worker_sequence: worker.sequence(),
            tokens: arguments.tokens,
            stake_tokens: worker.stake_tokens(),
            unstaking_tokens: worker.unstaking_tokens(),
            unstake_ready_at: worker.unstake_ready_at(),
        },
    );
    Ok(())
}
