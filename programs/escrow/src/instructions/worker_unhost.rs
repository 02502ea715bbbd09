//! Removes a model from those the worker hosts.
//!
//! The worker keeps the jobs that it has acknowledged.
//!
//! Emits `WorkerUnhosted`.
//!
//! # Errors
//! - `Unauthorized`: `authority` is not the worker's authority
//! - `NotHosted`

use crate::{
    checks::accounts,
    error::Result,
    events::{WorkerPart, WorkerUnhosted},
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
        /// The model's address; the account is not read
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

    worker.unhost(accounts.model.address())?;
    worker.changed()?;

    WorkerUnhosted { worker: WorkerPart(&accounts.worker, worker), model: accounts.model.address() }
        .emit(&accounts.event_authority, &Clock::get())
}
