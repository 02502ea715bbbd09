//! Charges a proven job and pays worker and treasury. What cannot be paid now becomes claimable.
//!
//! The charge is the price of the lower token count, and never above the lock. The rest of the lock
//! returns to the wallet.
//!
//! A payee whose token account is closed or frozen stops nothing: `claim_pay` pays it later.
//!
//! Emits `JobSettled`.
//!
//! # Errors
//! - `Unauthorized`: `signer` does not act for the job's controller
//! - `WrongAddress`: `credit_account` or `worker` is not the job's, `worker_payout` not the
//!   worker's, or a vault not the program's
//! - `WrongJobStatus`: The job is not settling
//! - `DeadlinePassed`: More than `JOB_TIMEOUT_SECONDS` have passed since the lock
//! - `OutputMismatch`: `delivered_hash` is not the proven one
//! - `NothingCounted`: `counted_tokens` is zero

use pinocchio::AccountView;

use crate::{
    checks::{controller::Actor, roles::accounts},
    error::Result,
    events::JobSettled,
    settlement::{Payees, Settlement},
    state::{Config, CreditAccount, Job, Treasury, Worker},
    wire::{
        arguments::arguments,
        event_writer::emit,
        layout::{load, load_mut},
        sysvars::Clock,
    },
};

arguments! {
    pub struct Arguments<'a> {
        /// The sha256 of what was delivered; has to be the proven one
        delivered_hash: &'a [u8; 32],
        /// The tokens counted by the controller, at least 1; the lower of these and the proven is
        /// charged
        counted_tokens: u32,
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
    let payees = Payees {
        vault: &accounts.vault,
        vault_authority: &accounts.vault_authority,
        worker_payout: &accounts.worker_payout,
        treasury_vault: &accounts.treasury_vault,
    };
    Actor { signer: &accounts.signer, gateway: accounts.gateway.as_ref() }
        .require_controller(job.controller())?;
    job.require_credit_account(accounts.credit_account.address())?;
    job.require_worker(accounts.worker.address())?;
    payees.validate(worker)?;
    let clock = Clock::get();

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
    let payment = settlement.settle(arguments.delivered_hash, arguments.counted_tokens)?;
    let Settlement { job, credit_account, worker, treasury, .. } = settlement;

    emit(
        &accounts.event_authority,
        &clock,
        &JobSettled {
            job: accounts.job.address(),
            job_sequence: job.sequence(),
            job_id: job.job_id(),
            credit_account: job.credit_account(),
            credit_sequence: credit_account.sequence(),
            wallet: credit_account.wallet(),
            worker: job.worker(),
            worker_sequence: worker.sequence(),
            settled_by: job.settled_by(),
            output_hash: job.output_hash(),
            prompt_tokens: job.prompt_tokens(),
            completion_tokens: job.completion_tokens(),
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
