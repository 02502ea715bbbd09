//! Records the worker's signed proof. Anybody may submit it; the same proof again changes nothing.
//!
//! It moves a processing job to settling. Another instruction of the same transaction has the
//! ed25519 program verify the worker's signature.
//!
//! The worker signs `svc-proof-v1`, the program, the job, the worker, the attempt and the three
//! values of the output. `ed25519Instruction` and `proofMessage` of the client write the accepted
//! form.
//!
//! Emits `JobProven`, but nothing for a repetition.
//!
//! # Errors
//! - `WrongAddress`: `worker` is not the acknowledged one
//! - `ProofAlreadyGiven`
//! - `WrongJobStatus`: The job is not processing
//! - `DeadlinePassed`: More than `JOB_TIMEOUT_SECONDS` have passed since the lock
//! - `ProofMissing`: The instruction at the index does not exist, or is not one of the ed25519
//!   program
//! - `ProofMalformed`
//! - `ProofWrongKey`
//! - `ProofWrongMessage`: The signed message is not that of this program, job, worker, attempt and
//!   output

use pinocchio::AccountView;

use crate::{
    checks::{proof::Attempt, roles::accounts},
    error::Result,
    events::JobProven,
    state::{Job, Worker, job::Output},
    wire::{
        arguments::arguments,
        event_writer::emit,
        layout::{load, load_mut},
        sysvars::Clock,
    },
};

arguments! {
    pub struct Arguments<'a> {
        /// Where in the transaction the worker's signature is verified, from 0
        ed25519_instruction_index: u16,
        /// The sha256 of the worker's output
        output_hash: &'a [u8; 32],
        /// As the worker counted
        prompt_tokens: u32,
        /// As the worker counted; bounds the charge
        completion_tokens: u32,
    }
}

accounts! {
    pub struct Accounts {
        job: Writable,
        /// The acknowledged worker
        worker: Readonly,
        instructions_sysvar: InstructionsSysvar,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let arguments = Arguments::decode(data)?;
    let accounts = Accounts::load(accounts)?;
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
    .require_proven(
        &accounts.instructions_sysvar,
        arguments.ed25519_instruction_index,
        worker.proof_key(),
        &output,
    )?;

    job.prove(&output, clock.unix_time)?;
    job.changed()?;

    emit(
        &accounts.event_authority,
        &clock,
        &JobProven {
            job: accounts.job.address(),
            job_sequence: job.sequence(),
            job_id: job.job_id(),
            worker: job.worker(),
            attempt: job.attempt(),
            output_hash: job.output_hash(),
            prompt_tokens: job.prompt_tokens(),
            completion_tokens: job.completion_tokens(),
        },
    );
    Ok(())
}
