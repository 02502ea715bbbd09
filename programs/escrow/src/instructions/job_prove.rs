//! Records the worker's signed proof. Anybody may submit it; the same proof again changes nothing.
//!
//! It moves a processing job to settling.
//!
//! The worker signs the sha256 of: `svc-proof-v2`, the program, the job, the worker, the attempt,
//! the three values of the output and the statement. `proofMessage` of the client writes it.
//!
//! Emits `JobProven`, but nothing for a repetition.
//!
//! # Errors
//! - `WrongAddress`: `worker` is not the acknowledged one
//! - `ProofAlreadyGiven`
//! - `WrongJobStatus`: The job is not processing
//! - `DeadlinePassed`: More than `JOB_TIMEOUT_SECONDS` have passed since the lock
//! - `SignatureInvalid`: The proof is not this worker's of this program, job, attempt, output and
//!   statement

use crate::{
    checks::{accounts, message::Message, proof::Attempt},
    error::Result,
    events::{JobPart, JobProven, OutputPart},
    state::{Job, Worker, job::Output},
    wire::{Clock, arguments, load, load_mut},
};

arguments! {
    pub struct Arguments<'a> {
        /// The sha256 of the worker's output
        output_hash: &'a [u8; 32],
        /// As the worker counted
        prompt_tokens: u32,
        /// As the worker counted; bounds the charge
        completion_tokens: u32,
        /// Binds question and answer; compared and never opened
        statement: &'a [u8; 32],
        /// The proof key's signature of the proof's sha256
        signature: &'a [u8; 64],
    }
}

accounts! {
    pub struct Accounts {
        job: Writable,
        /// The acknowledged worker
        worker: Readonly,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, arguments: Arguments) -> Result {
    let job: &mut Job = load_mut(&accounts.job)?;
    let worker: &Worker = load(&accounts.worker)?;
    job.require_worker(accounts.worker.address())?;
    let output = Output {
        hash: arguments.output_hash,
        prompt_tokens: arguments.prompt_tokens,
        completion_tokens: arguments.completion_tokens,
    };
    if job.is_proven(&output) {
        return Ok(());
    }
    let clock = Clock::get();
    job.require_provable(clock.unix_time)?;

    Attempt {
        job: accounts.job.address(),
        worker: accounts.worker.address(),
        attempt: job.attempt(),
    }
    .proof(&output, arguments.statement)
    .require_signed(worker.proof_key(), arguments.signature)?;

    job.prove(&output, clock.unix_time)?;
    job.changed()?;

    JobProven {
        job: JobPart(&accounts.job, job),
        worker: job.worker(),
        attempt: job.attempt(),
        proof_key: worker.proof_key(),
        output: OutputPart(job),
        statement: arguments.statement,
    }
    .emit(&accounts.event_authority, &clock)
}
