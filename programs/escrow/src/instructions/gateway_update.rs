//! Replaces a gateway's signers and its stop flag: one transaction revokes a hot key for every
//! wallet.

use pinocchio::AccountView;

use crate::{
    arguments::{Addresses, arguments},
    error::{Result, require},
    event_writer::emit,
    events::GatewayUpdated,
    layout::load_mut,
    roles::accounts,
    state::Gateway,
    sysvars::Clock,
};

arguments! {
    pub struct Arguments<'a> {
        signers: Addresses<'a>,
        stopped: bool,
    }
}

accounts! {
    pub struct Accounts {
        operator: Signer,
        gateway: Writable,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let arguments = Arguments::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let gateway: &mut Gateway = load_mut(&accounts.gateway)?;
    require!(accounts.operator.address() == gateway.operator(), Unauthorized);

    gateway.set_signers(arguments.signers)?;
    gateway.set_stopped(arguments.stopped);
    gateway.changed()?;

    emit(
        &accounts.event_authority,
        &Clock::get(),
        &GatewayUpdated {
            gateway: accounts.gateway.address(),
            gateway_sequence: gateway.sequence(),
            operator: gateway.operator(),
            signers: gateway.signers(),
            stopped: gateway.stopped(),
        },
    );
    Ok(())
}
