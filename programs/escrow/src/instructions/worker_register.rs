//! Registers a worker.

use pinocchio::{AccountView, Address};

use crate::{
    arguments::arguments,
    creation::Creation,
    error::Result,
    event_writer::emit,
    events::WorkerRegistered,
    layout::load,
    roles::accounts,
    seeds::WORKER,
    state::{Config, Worker},
    sysvars::Clock,
    text::Text,
    token,
};

arguments! {
    pub struct Arguments<'a> {
        proof_key: &'a Address,
        endpoint: Text<'a>,
    }
}

accounts! {
    pub struct Accounts {
        /// Pays the rent
        authority: WritableSigner,
        config: Readonly,
        #[pda(WORKER, authority)]
        worker: Writable,
        /// A token account of the credit mint
        payout: Readonly,
        system_program: SystemProgram,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let arguments = Arguments::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let config: &Config = load(&accounts.config)?;
    token::usable(&accounts.payout, config.credit_mint())?;
    token::require_foreign(&accounts.payout)?;
    let authority = accounts.authority.address();
    let clock = Clock::get();

    let worker: &mut Worker = Creation { payer: &accounts.authority, account: &accounts.worker }
        .keyed(WORKER, authority.as_array())?;
    worker.open(authority, clock.unix_time);
    worker.describe(arguments.proof_key, accounts.payout.address(), arguments.endpoint)?;
    worker.invariant()?;

    emit(
        &accounts.event_authority,
        &clock,
        &WorkerRegistered {
            worker: accounts.worker.address(),
            worker_sequence: worker.sequence(),
            authority,
            proof_key: worker.proof_key(),
            payout: worker.payout(),
            endpoint: arguments.endpoint,
        },
    );
    Ok(())
}
