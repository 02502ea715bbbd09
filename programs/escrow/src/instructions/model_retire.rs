//! Announces a model's retirement at least 30 days ahead, or takes it back with zero.
//!
//! Nothing is locked for the model from that time on. Jobs in flight go on.
//!
//! Emits `ModelRetired`.
//!
//! # Errors
//! - `Unauthorized`: `authority` is not the configuration's authority
//! - `RetirementTooSoon`: `retires_at` is neither zero nor `RETIREMENT_NOTICE_SECONDS` ahead

use pinocchio::AccountView;

use crate::{
    checks::roles::accounts,
    error::Result,
    events::ModelRetired,
    state::{Config, Model},
    wire::{
        arguments::arguments,
        event_writer::emit,
        layout::{load, load_mut},
        sysvars::Clock,
    },
};

arguments! {
    pub struct Arguments {
        /// At least `RETIREMENT_NOTICE_SECONDS` ahead; zero takes an announcement back
        retires_at: i64,
    }
}

accounts! {
    pub struct Accounts {
        authority: Signer,
        config: Readonly,
        #[pda(MODEL, model_id)]
        model: Writable,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let arguments = Arguments::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    load::<Config>(&accounts.config)?.require_authority(accounts.authority.address())?;
    let model: &mut Model = load_mut(&accounts.model)?;
    let clock = Clock::get();

    model.retire(arguments.retires_at, clock.unix_time)?;
    model.changed()?;

    emit(
        &accounts.event_authority,
        &clock,
        &ModelRetired {
            model: accounts.model.address(),
            model_sequence: model.sequence(),
            id: model.id(),
            retires_at: model.retires_at(),
        },
    );
    Ok(())
}
