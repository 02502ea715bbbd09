//! Removes a model from those the worker hosts.
//!
//! The worker keeps the jobs that it has acknowledged.
//!
//! Emits `WorkerUnhosted`.
//!
//! # Errors
//! - `Unauthorized`: `authority` is not the worker's authority
//! - `NotHosted`

use pinocchio::AccountView;

use crate::{
    checks::roles::accounts,
    error::Result,
    events::WorkerUnhosted,
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
        /// The model's address; the account is not read
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

    worker.unhost(accounts.model.address())?;
    worker.changed()?;

    emit(
        &accounts.event_authority,
        &Clock::get(),
        &WorkerUnhosted {
            worker: accounts.worker.address(),
            worker_sequence: worker.sequence(),
            model: accounts.model.address(),
        },
    );
    Ok(())
}
