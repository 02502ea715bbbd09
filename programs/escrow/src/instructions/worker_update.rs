//! Changes a worker's proof key, payout account and endpoint, even after it left: pay may still
//! wait for it.
//!
//! All three are replaced, so a caller repeats those that stay. A proof has to be signed by the key
//! of the moment it is recorded. The former key still convicts for the jobs proven with it: it is
//! kept until the last of them is decided.
//!
//! Emits `WorkerUpdated`.
//!
//! # Errors
//! - `InvalidText`: `endpoint` is empty, too long or not printable ASCII
//! - `Unauthorized`: `authority` is not the worker's authority
//! - `WrongTokenAccount`: `payout` is not an SPL Token account, not initialized or frozen
//! - `WrongMint`: `payout` is not of the credit mint
//! - `DuplicateAccount`: `payout` is one of the program's vaults
//! - `ValueOutOfRange`: `proof_key` is the zero key
//! - `ProofKeyInUse`: The proof key changed less than `JOB_DECIDED_SECONDS` ago

use pinocchio::Address;

use crate::{
    checks::{accounts, token},
    error::Result,
    events::{WorkerPart, WorkerUpdated},
    state::{Config, Worker, worker::Description},
    wire::{Clock, arguments, load, load_mut, text::Text},
};

arguments! {
    pub struct Arguments<'a> {
        /// The ed25519 key that signs proofs; not the zero key
        proof_key: &'a Address,
        /// Where jobs are posted, from 1 to 128 bytes of printable ASCII
        endpoint: Text<'a>,
    }
}

accounts! {
    pub struct Accounts {
        authority: Signer,
        config: Readonly,
        #[pda(WORKER, authority)]
        worker: Writable,
        /// A token account of the credit mint, none of the vaults
        payout: Readonly,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, arguments: Arguments) -> Result {
    let config: &Config = load(&accounts.config)?;
    let worker: &mut Worker = load_mut(&accounts.worker)?;
    worker.require_authority(accounts.authority.address())?;
    token::usable(&accounts.payout, config.credit_mint())?;
    token::require_foreign(&accounts.payout)?;
    let clock = Clock::get();

    let description = Description {
        proof_key: arguments.proof_key,
        payout: accounts.payout.address(),
        endpoint: arguments.endpoint,
    };
    worker.update(&description, clock.unix_time)?;
    worker.changed()?;

    WorkerUpdated {
        worker: WorkerPart(&accounts.worker, worker),
        authority: worker.authority(),
        proof_key: worker.proof_key(),
        previous_proof_key: worker.previous_proof_key(),
        proof_key_changed_at: worker.proof_key_changed_at(),
        payout: worker.payout(),
        endpoint: worker.endpoint(),
    }
    .emit(&accounts.event_authority, &clock)
}
