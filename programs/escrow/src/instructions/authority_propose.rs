//! Proposes a new authority, which has to accept; the zero key withdraws the proposal.
//!
//! The authority stays in office until the proposed key calls `authority_accept`.
//!
//! Emits `AuthorityProposed`.
//!
//! # Errors
//! - `Unauthorized`: `authority` is not the configuration's authority
//! - `ValueOutOfRange`: The proposed key is the arbiter

use pinocchio::Address;

use crate::{
    checks::accounts,
    error::Result,
    events::AuthorityProposed,
    state::Config,
    wire::{Clock, arguments, load_mut},
};

arguments! {
    pub struct Arguments<'a> {
        /// Any key but the arbiter
        pending_authority: &'a Address,
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

    config.propose_authority(arguments.pending_authority)?;
    config.changed()?;

    AuthorityProposed {
        config_sequence: config.sequence(),
        authority: config.authority(),
        pending_authority: config.pending_authority(),
    }
    .emit(&accounts.event_authority, &Clock::get())
}
