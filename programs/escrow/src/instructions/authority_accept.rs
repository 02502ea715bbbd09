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

use pinocchio::AccountView;

use crate::{
    checks::roles::accounts,
    error::Result,
    events::AuthorityAccepted,
    state::Config,
    wire::{arguments::arguments, event_writer::emit, layout::load_mut, sysvars::Clock},
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

#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    Arguments::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let config: &mut Config = load_mut(&accounts.config)?;

    config.accept_authority(accounts.pending_authority.address())?;
    config.changed()?;

    emit(
        &accounts.event_authority,
        &Clock::get(),
        &AuthorityAccepted { config_sequence: config.sequence(), authority: config.authority() },
    );
    Ok(())
}
