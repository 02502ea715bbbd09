//! Takes a worker out of service for good; its stake can be unlocked and withdrawn.
//!
//! Its jobs in flight go on, and it is paid for them.
//!
//! Emits `WorkerDeregistered`.
//!
//! # Errors
//! - `Unauthorized`: `authority` is not the worker's authority
//! - `WrongWorkerStatus`: The worker is deregistered already

use pinocchio::AccountView;

use crate::{
    checks::roles::accounts,
    error::Result,
    events::WorkerDeregistered,
    state::Worker,
    wire::{arguments::arguments, event_writer::emit, layout::load_mut, sysvars::Clock},
};

arguments! {
    pub struct Arguments {}
}

accounts! {
    pub struct Accounts {
        authority: Signer,
        #[pda(WORKER, authority)]
        worker: Writable,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    Arguments::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let worker: &mut Worker = load_mut(&accounts.worker)?;
    worker.require_authority(accounts.authority.address())?;

    worker.deregister()?;
    worker.changed()?;

    emit(
        &accounts.event_authority,
        &Clock::get(),
        &WorkerDeregistered {
            worker: accounts.worker.address(),
            worker_sequence: worker.sequence(),
        },
    );
    Ok(())
}
