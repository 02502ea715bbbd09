//! Registers a worker.
//!
//! It is given jobs once it hosts a model and holds the minimum stake.
//!
//! Emits `WorkerRegistered`.
//!
//! # Errors
//! - `InvalidText`: `endpoint` is empty, too long or not printable ASCII
//! - `WrongTokenAccount`: `payout` is not an SPL Token account, not initialized or frozen
//! - `WrongMint`: `payout` is not of the credit mint
//! - `DuplicateAccount`: `payout` is one of the program's vaults
//! - `WrongAddress`: `worker` is not the authority's
//! - `AlreadyInitialized`: The authority has a worker already
//! - `ValueOutOfRange`: `proof_key` is the zero key

use pinocchio::Address;

use crate::{
    checks::{accounts, token},
    error::Result,
    events::{WorkerPart, WorkerRegistered},
    seeds::WORKER,
    state::{Config, Worker, creation::Creation, worker::Description},
    wire::{Clock, arguments, load, text::Text},
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
        /// Pays the rent, and governs the worker from then on
        authority: WritableSigner,
        config: Readonly,
        #[pda(WORKER, authority)]
        worker: Writable,
        /// A token account of the credit mint, none of the vaults
        payout: Readonly,
        system_program: SystemProgram,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, arguments: Arguments) -> Result {
    let config: &Config = load(&accounts.config)?;
    token::usable(&accounts.payout, config.credit_mint())?;
    token::require_foreign(&accounts.payout)?;
    let authority = accounts.authority.address();
    let clock = Clock::get();

    let worker: &mut Worker = Creation { payer: &accounts.authority, account: &accounts.worker }
        .keyed(WORKER, authority.as_array())?;
    let description = Description {
        proof_key: arguments.proof_key,
        payout: accounts.payout.address(),
        endpoint: arguments.endpoint,
    };
    worker.open(authority, &description, clock.unix_time)?;
    worker.invariant()?;

    WorkerRegistered {
        worker: WorkerPart(&accounts.worker, worker),
        authority,
        proof_key: worker.proof_key(),
        payout: worker.payout(),
        endpoint: arguments.endpoint,
    }
    .emit(&accounts.event_authority, &clock)
}
