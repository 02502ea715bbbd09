//! Announces a model's retirement at least 30 days ahead, or takes it back with zero.
//!
//! Nothing is locked for the model from that time on. Jobs in flight go on.
//!
//! Emits `ModelRetired`.
//!
//! # Errors
//! - `Unauthorized`: `authority` is not the configuration's authority
//! - `RetirementTooSoon`: `retires_at` is neither zero nor `RETIREMENT_NOTICE_SECONDS` ahead

use crate::{
    checks::accounts,
    error::Result,
    events::{ModelPart, ModelRetired},
    state::{Config, Model},
    wire::{Clock, arguments, load, load_mut},
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

#[inline(always)]
pub fn process(accounts: Accounts, arguments: Arguments) -> Result {
    load::<Config>(&accounts.config)?.require_authority(accounts.authority.address())?;
    let model: &mut Model = load_mut(&accounts.model)?;
    let clock = Clock::get();

    model.retire(arguments.retires_at, clock.unix_time)?;
    model.changed()?;

    ModelRetired { model: ModelPart(&accounts.model, model), retires_at: model.retires_at() }
        .emit(&accounts.event_authority, &clock)
}
