//! Takes a worker out of service for good; its stake can be unlocked and withdrawn.
//!
//! Its jobs in flight go on, and it is paid for them.
//!
//! Emits `WorkerDeregistered`.
//!
//! # Errors
//! - `Unauthorized`: `authority` is not the worker's authority
//! - `WrongWorkerStatus`: The worker is deregistered already

use crate::{
    checks::accounts,
    error::Result,
    events::{WorkerDeregistered, WorkerPart},
    state::Worker,
    wire::{Clock, arguments, load_mut},
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

#[inline(always)]
pub fn process(accounts: Accounts, _: Arguments) -> Result {
    let worker: &mut Worker = load_mut(&accounts.worker)?;
    worker.require_authority(accounts.authority.address())?;

    worker.deregister()?;
    worker.changed()?;

    WorkerDeregistered { worker: WorkerPart(&accounts.worker, worker) }
        .emit(&accounts.event_authority, &Clock::get())
}
