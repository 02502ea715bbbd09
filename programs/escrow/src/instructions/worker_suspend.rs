//! Keeps a worker from new jobs, or readmits it.
//!
//! Its jobs in flight go on.
//!
//! Emits `WorkerSuspended`.
//!
//! # Errors
//! - `Unauthorized`: `arbiter` is not the configuration's arbiter
//! - `WrongWorkerStatus`: The worker is not active, or not suspended if it is to be readmitted

use crate::{
    checks::accounts,
    error::Result,
    events::{WorkerPart, WorkerSuspended},
    state::{Config, Worker},
    wire::{Clock, arguments, load, load_mut},
};

arguments! {
    pub struct Arguments {
        /// True suspends an active worker, false readmits a suspended one
        suspended: bool,
    }
}

accounts! {
    pub struct Accounts {
        arbiter: Signer,
        config: Readonly,
        worker: Writable,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, arguments: Arguments) -> Result {
    load::<Config>(&accounts.config)?.require_arbiter(accounts.arbiter.address())?;
    let worker: &mut Worker = load_mut(&accounts.worker)?;

    worker.set_suspended(arguments.suspended)?;
    worker.changed()?;

    WorkerSuspended { worker: WorkerPart(&accounts.worker, worker), suspended: arguments.suspended }
        .emit(&accounts.event_authority, &Clock::get())
}
