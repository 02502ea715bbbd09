//! Replaces a gateway's signers and its stop flag: one transaction revokes a hot key for every
//! wallet.
//!
//! A stopped gateway locks nothing more and begins no attempt. Its signers go on to settle and fail
//! the jobs in flight. Drain the gateway before a planned stop: an answer that was not acknowledged
//! yet fails unpaid.
//!
//! Emits `GatewayUpdated`.
//!
//! # Errors
//! - `Unauthorized`: `operator` is not the gateway's operator
//! - `ValueOutOfRange`: `signers` holds more than 8 keys or the zero key
//! - `DuplicateAccount`: A key stands in `signers` twice

use crate::{
    checks::accounts,
    error::{Result, require},
    events::{GatewayPart, GatewayUpdated},
    state::Gateway,
    wire::{Clock, arguments, arguments::Addresses, load_mut},
};

arguments! {
    pub struct Arguments<'a> {
        /// The hot keys, all different: at most 8, and none at all to revoke every one
        signers: Addresses<'a>,
        /// Whether the gateway may lock nothing
        stopped: bool,
    }
}

accounts! {
    pub struct Accounts {
        operator: Signer,
        #[pda(GATEWAY, operator)]
        gateway: Writable,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, arguments: Arguments) -> Result {
    let gateway: &mut Gateway = load_mut(&accounts.gateway)?;
    require!(accounts.operator.address() == gateway.operator(), Unauthorized);

    gateway.set_signers(arguments.signers)?;
    gateway.set_stopped(arguments.stopped);
    gateway.changed()?;

    GatewayUpdated {
        gateway: GatewayPart(&accounts.gateway, gateway),
        signers: gateway.signers(),
        stopped: gateway.stopped(),
    }
    .emit(&accounts.event_authority, &Clock::get())
}
