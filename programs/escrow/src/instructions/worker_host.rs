//! Adds a model to those the worker hosts.
//!
//! A suspended worker may call it, a deregistered one may not.
//!
//! Emits `WorkerHosted`.
//!
//! # Errors
//! - `Unauthorized`: `authority` is not the worker's authority
//! - `WrongWorkerStatus`: The worker is deregistered
//! - `AlreadyHosted`
//! - `TooManyModels`: The worker hosts 16 models already

use crate::{
    checks::accounts,
    error::Result,
    events::{WorkerHosted, WorkerPart},
    state::{Model, Worker},
    wire::{Clock, arguments, load, load_mut},
};

arguments! {
    pub struct Arguments {}
}

accounts! {
    pub struct Accounts {
        authority: Signer,
        #[pda(WORKER, authority)]
        worker: Writable,
        #[pda(MODEL, model_id)]
        model: Readonly,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, _: Arguments) -> Result {
    let worker: &mut Worker = load_mut(&accounts.worker)?;
    worker.require_authority(accounts.authority.address())?;
    load::<Model>(&accounts.model)?;

    worker.host(accounts.model.address())?;
    worker.changed()?;

    WorkerHosted { worker: WorkerPart(&accounts.worker, worker), model: accounts.model.address() }
        .emit(&accounts.event_authority, &Clock::get())
}
