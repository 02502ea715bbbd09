//! Opens the gateway of an operator.
//!
//! A wallet that names the gateway as its spender lets each of its signers lock credits.
//!
//! Emits `GatewayOpened`.
//!
//! # Errors
//! - `WrongAddress`: `gateway` is not the operator's
//! - `AlreadyInitialized`: The operator has a gateway already
//! - `ValueOutOfRange`: `signers` is empty, holds more than 8 keys or the zero key
//! - `DuplicateAccount`: A key stands in `signers` twice

use crate::{
    checks::accounts,
    error::Result,
    events::{GatewayOpened, GatewayPart},
    seeds::GATEWAY,
    state::{Gateway, creation::Creation},
    wire::{Clock, arguments, arguments::Addresses},
};

arguments! {
    pub struct Arguments<'a> {
        /// The hot keys: from 1 to 8, all different
        signers: Addresses<'a>,
    }
}

accounts! {
    pub struct Accounts {
        /// Pays the rent
        payer: WritableSigner,
        /// The cold key that governs the gateway
        operator: Signer,
        #[pda(GATEWAY, operator)]
        gateway: Writable,
        system_program: SystemProgram,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, arguments: Arguments) -> Result {
    let operator = accounts.operator.address();

    let gateway: &mut Gateway = Creation { payer: &accounts.payer, account: &accounts.gateway }
        .keyed(GATEWAY, operator.as_array())?;
    gateway.open(operator, arguments.signers)?;
    gateway.invariant()?;

    GatewayOpened {
        gateway: GatewayPart(&accounts.gateway, gateway),
        signers: gateway.signers(),
        stopped: gateway.stopped(),
    }
    .emit(&accounts.event_authority, &Clock::get())
}
