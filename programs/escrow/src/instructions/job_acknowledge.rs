//! Records which worker was given the job. The same worker and attempt again changes nothing.
//!
//! It moves a pending job to processing. A later attempt may give the job to another worker, also
//! once a proof is recorded: that proof counts no more.
//!
//! Emits `JobAcknowledged`, but nothing for a repetition.
//!
//! # Errors
//! - `Unauthorized`: `signer` does not act for the job's controller
//! - `GatewayStopped`
//! - `WrongJobStatus`: The job is not pending, processing or settling
//! - `DeadlinePassed`: More than `JOB_TIMEOUT_SECONDS` have passed since the lock
//! - `AttemptNotNewer`
//! - `WorkerNotEligible`
//! - `WorkerDoesNotHostModel`

use crate::{
    checks::{accounts, controller::Actor},
    error::Result,
    events::{JobAcknowledged, JobPart},
    state::{Config, Job, Worker},
    wire::{Clock, arguments, load, load_mut},
};

arguments! {
    pub struct Arguments {
        /// From 1; above the recorded attempt, or a repetition of it
        attempt: u8,
    }
}

accounts! {
    pub struct Accounts {
        /// The controller, or one of its signers
        signer: Signer,
        /// Given when the controller is a gateway
        gateway: Optional,
        config: Readonly,
        job: Writable,
        /// The worker that is given the job
        worker: Readonly,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, arguments: Arguments) -> Result {
    let config: &Config = load(&accounts.config)?;
    let job: &mut Job = load_mut(&accounts.job)?;
    let worker: &Worker = load(&accounts.worker)?;
    let actor = Actor { signer: &accounts.signer, gateway: accounts.gateway.as_ref() };
    actor.require_controller(job.controller())?;
    let worker_address = accounts.worker.address();
    if job.is_acknowledged(worker_address, arguments.attempt) {
        return Ok(());
    }
    actor.require_running(job.controller())?;
    let clock = Clock::get();

    let voided = job.acknowledge(worker_address, arguments.attempt, clock.unix_time)?;
    worker.require_eligible(job.model(), config.minimum_stake_tokens())?;
    job.changed()?;

    JobAcknowledged {
        job: JobPart(&accounts.job, job),
        worker: job.worker(),
        attempt: job.attempt(),
        voided_worker: &voided.worker,
        voided_attempt: voided.attempt,
        voided_output_hash: &voided.output_hash,
    }
    .emit(&accounts.event_authority, &clock)
}
