//! Makes the proposed authority the authority.
//!
//! The proposal is used up, and the former authority has no rights any more.
//!
//! Emits `AuthorityAccepted`.
//!
//! # Errors
//! - `NoPendingAuthority`
//! - `Unauthorized`: `pending_authority` is not the proposed key
//! - `ValueOutOfRange`: The proposed key has become the arbiter in the meantime

use crate::{
    checks::accounts,
    error::Result,
    events::AuthorityAccepted,
    state::Config,
    wire::{Clock, arguments, load_mut},
};

arguments! {
    pub struct Arguments {}
}

accounts! {
    pub struct Accounts {
        /// The proposed key
        pending_authority: Signer,
        config: Writable,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, _: Arguments) -> Result {
    let config: &mut Config = load_mut(&accounts.config)?;

    config.accept_authority(accounts.pending_authority.address())?;
    config.changed()?;

    AuthorityAccepted { config_sequence: config.sequence(), authority: config.authority() }
        .emit(&accounts.event_authority, &Clock::get())
}
