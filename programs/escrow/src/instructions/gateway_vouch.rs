//! Sets whether the authority vouches for a gateway.
//!
//! The treasury repays the whole charge of a disputed job only if it was locked through a gateway
//! that was vouched for then. Of any other it repays its own share, since a controller that is also
//! the worker can make evidence against itself.
//!
//! Emits `GatewayVouched`.
//!
//! # Errors
//! - `Unauthorized`: `authority` is not the configuration's authority

use crate::{
    checks::accounts,
    error::Result,
    events::{GatewayPart, GatewayVouched},
    state::{Config, Gateway},
    wire::{Clock, arguments, load, load_mut},
};

arguments! {
    pub struct Arguments {
        /// Whether jobs locked from now on are repaid in full
        vouched: bool,
    }
}

accounts! {
    pub struct Accounts {
        authority: Signer,
        config: Readonly,
        gateway: Writable,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, arguments: Arguments) -> Result {
    load::<Config>(&accounts.config)?.require_authority(accounts.authority.address())?;
    let gateway: &mut Gateway = load_mut(&accounts.gateway)?;

    gateway.set_vouched(arguments.vouched);
    gateway.changed()?;

    GatewayVouched { gateway: GatewayPart(&accounts.gateway, gateway), vouched: gateway.vouched() }
        .emit(&accounts.event_authority, &Clock::get())
}
