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

use pinocchio::AccountView;

use crate::{
    checks::roles::accounts,
    error::Result,
    events::GatewayVouched,
    state::{Config, Gateway},
    wire::{
        arguments::arguments,
        event_writer::emit,
        layout::{load, load_mut},
        sysvars::Clock,
    },
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

#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let arguments = Arguments::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    load::<Config>(&accounts.config)?.require_authority(accounts.authority.address())?;
    let gateway: &mut Gateway = load_mut(&accounts.gateway)?;

    gateway.set_vouched(arguments.vouched);
    gateway.changed()?;

    emit(
        &accounts.event_authority,
        &Clock::get(),
        &GatewayVouched {
            gateway: accounts.gateway.address(),
            gateway_sequence: gateway.sequence(),
            operator: gateway.operator(),
            vouched: gateway.vouched(),
        },
    );
    Ok(())
}
