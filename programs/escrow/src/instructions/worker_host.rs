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

use pinocchio::AccountView;

use crate::{
    checks::roles::accounts,
    error::Result,
    events::WorkerHosted,
    state::{Model, Worker},
    wire::{
        arguments::arguments,
        event_writer::emit,
        layout::{load, load_mut},
        sysvars::Clock,
    },
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

#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    Arguments::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let worker: &mut Worker = load_mut(&accounts.worker)?;
    worker.require_authority(accounts.authority.address())?;
    load::<Model>(&accounts.model)?;

    worker.host(accounts.model.address())?;
    worker.changed()?;

    emit(
        &accounts.event_authority,
        &Clock::get(),
        &WorkerHosted {
            worker: accounts.worker.address(),
            worker_sequence: worker.sequence(),
            model: accounts.model.address(),
        },
    );
    Ok(())
}
