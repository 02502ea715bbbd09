//! Opens the gateway of an operator.

use pinocchio::AccountView;

use crate::{
    arguments::{Addresses, arguments},
    creation::Creation,
    error::Result,
    event_writer::emit,
    events::GatewayOpened,
    roles::accounts,
    seeds::GATEWAY,
    state::Gateway,
    sysvars::Clock,
};

arguments! {
    pub struct Arguments<'a> {
        signers: Addresses<'a>,
    }
}

accounts! {
    pub struct Accounts {
        /// Pays the rent
        payer: WritableSigner,
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
