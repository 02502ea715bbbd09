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

use pinocchio::AccountView;

use crate::{
    checks::{controller::Actor, message::Message, proof::Attempt, roles::accounts},
    error::{Result, require},
    events::JobCompleted,
    settlement::{Payees, Settlement},
    state::{
        Config, CreditAccount, Job, Treasury, Worker,
        job::Output,
    },
    wire::{
        arguments::arguments,
        event_writer::emit,
        layout::{load, load_mut},
        sysvars::Clock,
    },
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
        /// What the worker signs about the request that it answered
        request_commitment: &'a [u8; 32],
        /// The proof key's signature of the proof's sha256
        signature: &'a [u8; 64],
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
        /// The job's credit account
        credit_account: Writable,
        /// The job's worker
        worker: Writable,
        treasury: Writable,
        vault: Writable,
        vault_authority: VaultAuthority,
        /// The worker's payout account, in whatever state it is
        worker_payout: Writable,
        treasury_vault: Writable,
        token_program: TokenProgram,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let arguments = Arguments::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let config: &Config = load(&accounts.config)?;
    let job: &mut Job = load_mut(&accounts.job)?;
    let credit_account: &mut CreditAccount = load_mut(&accounts.credit_account)?;
    let worker: &mut Worker = load_mut(&accounts.worker)?;
    let treasury: &mut Treasury = load_mut(&accounts.treasury)?;
    let clock = Clock::get();

    let actor = Actor { signer: &accounts.signer, gateway: accounts.gateway.as_ref() };
    actor.require_controller(job.controller())?;
    require!(!job.is_settling(), ProofAlreadyGiven);
    let worker_address = accounts.worker.address();
    if !job.is_acknowledged(worker_address, arguments.attempt) {
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
        .proof(&output, arguments.request_commitment)
        .require_signed(worker.proof_key(), arguments.signature)?;

    job.require_credit_account(accounts.credit_account.address())?;
    let payees = Payees {
        vault: &accounts.vault,
        vault_authority: &accounts.vault_authority,
        worker_payout: &accounts.worker_payout,
        treasury_vault: &accounts.treasury_vault,
    };
    payees.validate(worker)?;
    let mut settlement = Settlement {
        config,
        job,
        credit_account,
        worker,
        treasury,
        payees,
        signer: accounts.signer.address(),
        now: clock.unix_time,
    };
    let payment = settlement.settle(arguments.output_hash, arguments.counted_tokens)?;
    let Settlement { job, credit_account, worker, treasury, .. } = settlement;

    emit(
        &accounts.event_authority,
        &clock,
        &JobCompleted {
            job: accounts.job.address(),
            job_sequence: job.sequence(),
            job_id: job.job_id(),
            credit_account: job.credit_account(),
            credit_sequence: credit_account.sequence(),
            wallet: credit_account.wallet(),
            worker: job.worker(),
            worker_sequence: worker.sequence(),
            settled_by: job.settled_by(),
            attempt: job.attempt(),
            proof_key: worker.proof_key(),
            output_hash: job.output_hash(),
            prompt_tokens: job.prompt_tokens(),
            completion_tokens: job.completion_tokens(),
            request_commitment: arguments.request_commitment,
            counted_tokens: arguments.counted_tokens,
            charged_credits: payment.charged_credits,
            returned_credits: job.locked_credits() - payment.charged_credits,
            worker_base_units: payment.worker_base_units,
            worker_paid: payment.pays_worker,
            treasury_base_units: payment.treasury_base_units,
            treasury_paid: payment.pays_treasury,
            worker_claimable_base_units: worker.claimable_base_units(),
            jobs_settled: worker.jobs_settled(),
            treasury_sequence: treasury.sequence(),
            treasury_unpaid_base_units: treasury.unpaid_base_units(),
            available_credits: credit_account.available_credits(),
            account_locked_credits: credit_account.locked_credits(),
            spent_today_credits: credit_account.spent_today_credits(),
        },
    );
    Ok(())
}
