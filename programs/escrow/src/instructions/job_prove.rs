//! Records the worker's signed proof. Anybody may submit it; the same proof again changes nothing.

use pinocchio::AccountView;

use crate::{
    arguments::arguments,
    error::Result,
    event_writer::emit,
    events::JobProven,
    layout::{load, load_mut},
    proof::Proof,
    roles::accounts,
    state::job::Output,
    state::{Job, Worker},
    sysvars::Clock,
};

arguments! {
    pub struct Arguments<'a> {
        /// Where in the transaction the worker's signature is verified
        ed25519_instruction_index: u16,
        output_hash: &'a [u8; 32],
        prompt_tokens: u32,
        completion_tokens: u32,
    }
}

accounts! {
    pub struct Accounts {
        job: Writable,
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

    Proof {
        job: accounts.job.address(),
        worker: accounts.worker.address(),
        attempt: job.attempt(),
        output: &output,
    }
    .require_verified(
        &accounts.instructions_sysvar,
        arguments.ed25519_instruction_index,
        worker.proof_key(),
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
