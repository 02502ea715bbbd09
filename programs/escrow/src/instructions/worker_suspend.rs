//! Keeps a worker from new jobs, or readmits it.
//!
//! Its jobs in flight go on.
//!
//! Emits `WorkerSuspended`.
//!
//! # Errors
//! - `Unauthorized`: `arbiter` is not the configuration's arbiter
//! - `WrongWorkerStatus`: The worker is not active, or not suspended if it is to be readmitted

use pinocchio::AccountView;

use crate::{
    checks::roles::accounts,
    error::Result,
    events::WorkerSuspended,
    state::{Config, Worker},
    wire::{
        arguments::arguments,
        event_writer::emit,
        layout::{load, load_mut},
        sysvars::Clock,
    },
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

#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let arguments = Arguments::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    load::<Config>(&accounts.config)?.require_arbiter(accounts.arbiter.address())?;
    let worker: &mut Worker = load_mut(&accounts.worker)?;

    worker.set_suspended(arguments.suspended)?;
    worker.changed()?;

    emit(
        &accounts.event_authority,
        &Clock::get(),
        &WorkerSuspended {
            worker: accounts.worker.address(),
            worker_sequence: worker.sequence(),
            suspended: arguments.suspended,
        },
    );
    Ok(())
}
