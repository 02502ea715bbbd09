//! Pauses or resumes purchases and locks. No exit can be paused.
//!
//! Both flags are set by every call. Jobs in flight go on, and withdrawals and claims stay open.
//!
//! Emits `PauseSet`.
//!
//! # Errors
//! - `Unauthorized`: `authority` is not the configuration's authority

use crate::{
    checks::accounts,
    error::Result,
    events::PauseSet,
    state::Config,
    wire::{Clock, arguments, load_mut},
};

arguments! {
    pub struct Arguments {
        /// Whether `credit_buy` is refused
        deposits_paused: bool,
        /// Whether `job_lock` is refused
        locks_paused: bool,
    }
}

accounts! {
    pub struct Accounts {
        authority: Signer,
        config: Writable,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, arguments: Arguments) -> Result {
    let config: &mut Config = load_mut(&accounts.config)?;
    config.require_authority(accounts.authority.address())?;

    config.set_paused(arguments.deposits_paused, arguments.locks_paused);
    config.changed()?;

    PauseSet {
        config_sequence: config.sequence(),
        deposits_paused: config.deposits_paused(),
        locks_paused: config.locks_paused(),
    }
    .emit(&accounts.event_authority, &Clock::get())
}
