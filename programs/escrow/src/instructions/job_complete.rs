//! Gives a job to a worker, records the worker's proof, charges and pays, all at once: what
//! `job_acknowledge`, `job_prove` and `job_settle` do one by one.
//!
//! It refuses what the three would refuse in their order, by the same names. A recorded proof is
//! never replaced here: then `job_settle` settles, or a later acknowledgement puts the proof aside.
//!
//! A payee whose token account is closed or frozen stops nothing: `claim_pay` pays it later.
//!
//! Emits `JobCompleted`, which readers take for `JobAcknowledged`, `JobProven` and `JobSettled`.
//!
//! # Errors
//! - `Unauthorized`: `signer` does not act for the job's controller
//! - `ProofAlreadyGiven`
//! - `GatewayStopped`: and the attempt is not recorded yet
//! - `WrongJobStatus`: The job is not pending or processing
//! - `DeadlinePassed`: More than `JOB_TIMEOUT_SECONDS` have passed since the lock
//! - `AttemptNotNewer`: The attempt is recorded of another worker, or a later one is
//! - `WorkerNotEligible`: and the attempt is not recorded yet
//! - `WorkerDoesNotHostModel`: and the attempt is not recorded yet
//! - `SignatureInvalid`: The proof is not this worker's of this program, job, attempt, output and
//!   commitment
//! - `WrongAddress`: `credit_account` is not the job's, `worker_payout` not the worker's, or a vault
//!   not the program's
//! - `NothingCounted`: `counted_tokens` is zero

use crate::{
    checks::{message::Message, proof::Attempt},
    error::{Result, require},
    events::{JobCompleted, OutputPart, PaymentPart, SettledPart},
    settlement::{Settlement, SettlementAccounts as Accounts},
    state::job::Output,
    wire::arguments,
};

arguments! {
    pub struct Arguments<'a> {
        /// From 1; the recorded attempt, or a later one
        attempt: u8,
        /// The sha256 of the worker's output, which was delivered
        output_hash: &'a [u8; 32],
        /// As the worker counted
        prompt_tokens: u32,
        /// As the worker counted
        completion_tokens: u32,
        /// The tokens counted by the controller, at least 1; the lower of these and the proven is
        /// charged
        counted_tokens: u32,
        /// Binds question and answer; compared and never opened
        statement: &'a [u8; 32],
        /// The proof key's signature of the proof's sha256
        signature: &'a [u8; 64],
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, arguments: Arguments) -> Result {
    let mut settlement = Settlement::begin(&accounts)?;
    let Settlement { config, job, worker, clock, .. } = &mut settlement;

    require!(!job.is_settling(), ProofAlreadyGiven);
    let worker_address = accounts.worker.address();
    if !job.is_acknowledged(worker_address, arguments.attempt) {
        let actor = accounts.actor();
        actor.require_running(job.controller())?;
        job.acknowledge(worker_address, arguments.attempt, clock.unix_time)?;
        worker.require_eligible(job.model(), config.minimum_stake_tokens())?;
    }

    let output = Output {
        hash: arguments.output_hash,
        prompt_tokens: arguments.prompt_tokens,
        completion_tokens: arguments.completion_tokens,
    };
    // The time first: it costs less than a signature.
    job.prove(&output, clock.unix_time)?;
    Attempt { job: accounts.job.address(), worker: worker_address, attempt: arguments.attempt }
        .proof(&output, arguments.statement)
        .require_signed(worker.proof_key(), arguments.signature)?;

    let payment = settlement.settle(arguments.output_hash, arguments.counted_tokens)?;

    JobCompleted {
        settled: SettledPart(&accounts, &settlement),
        attempt: settlement.job.attempt(),
        proof_key: settlement.worker.proof_key(),
        output: OutputPart(settlement.job),
        statement: arguments.statement,
        payment: PaymentPart(&settlement, &payment),
    }
    .emit(&accounts.event_authority, &settlement.clock)
}
