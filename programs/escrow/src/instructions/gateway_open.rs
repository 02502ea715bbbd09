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

use pinocchio::AccountView;

use crate::{
    checks::roles::accounts,
    error::Result,
    events::GatewayOpened,
    seeds::GATEWAY,
    state::{Gateway, creation::Creation},
    wire::{
        arguments::{Addresses, arguments},
        event_writer::emit,
        sysvars::Clock,
    },
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

#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let arguments = Arguments::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let operator = accounts.operator.address();

    let gateway: &mut Gateway = Creation { payer: &accounts.payer, account: &accounts.gateway }
        .keyed(GATEWAY, operator.as_array())?;
    gateway.open(operator, arguments.signers)?;
    gateway.invariant()?;

    emit(
        &accounts.event_authority,
        &Clock::get(),
        &GatewayOpened {
            gateway: accounts.gateway.address(),
            gateway_sequence: gateway.sequence(),
            operator,
            signers: gateway.signers(),
            stopped: gateway.stopped(),
        },
    );
    Ok(())
}
