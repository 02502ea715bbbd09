//! Proposes a new authority, which has to accept; the zero key withdraws the proposal.
//!
//! The authority stays in office until the proposed key calls `authority_accept`.
//!
//! Emits `AuthorityProposed`.
//!
//! # Errors
//! - `Unauthorized`: `authority` is not the configuration's authority
//! - `ValueOutOfRange`: The proposed key is the arbiter

use pinocchio::{AccountView, Address};

use crate::{
    checks::roles::accounts,
    error::Result,
    events::AuthorityProposed,
    state::Config,
    wire::{arguments::arguments, event_writer::emit, layout::load_mut, sysvars::Clock},
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

#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let arguments = Arguments::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let config: &mut Config = load_mut(&accounts.config)?;
    config.require_authority(accounts.authority.address())?;

    config.propose_authority(arguments.pending_authority)?;
    config.changed()?;

    emit(
        &accounts.event_authority,
        &Clock::get(),
        &AuthorityProposed {
            config_sequence: config.sequence(),
            authority: config.authority(),
            pending_authority: config.pending_authority(),
        },
    );
    Ok(())
}
