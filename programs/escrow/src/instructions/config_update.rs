//! Changes what the authority may decide; jobs in flight keep their terms.
//!
//! All values are replaced, so a caller repeats those that stay.
//!
//! Emits `ConfigUpdated`.
//!
//! # Errors
//! - `Unauthorized`: `authority` is not the configuration's authority
//! - `ValueOutOfRange`: An argument is out of its bounds

use crate::{
    checks::accounts,
    error::Result,
    events::{ConfigUpdated, TermsPart},
    state::{Config, config::Terms as Arguments},
    wire::{Clock, load_mut},
};

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
    let clock = Clock::get();

    config.set_terms(&arguments, clock.unix_time)?;
    config.changed()?;

    ConfigUpdated {
        terms: TermsPart(config),
        earlier_floor_credits: config.earlier_floor_credits(),
        earlier_floor_ends_at: config.earlier_floor_ends_at(),
    }
    .emit(&accounts.event_authority, &clock)
}
