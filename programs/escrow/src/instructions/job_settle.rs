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

use pinocchio::{AccountView, Address};

use crate::{
    checks::{
        controller::Actor,
        roles::{accounts, require_address},
        token,
    },
    error::{OrOverflow, Result},
    events::JobSettled,
    limits::{base_units, share_base_units},
    seeds::{TREASURY_VAULT_ADDRESS, VAULT_ADDRESS},
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

/// Who gets what, and whether it can be paid now. A failed transfer cannot be caught, so everything
/// that could make one fail is looked at first.
struct Payment {
    worker_base_units: u64,
    treasury_base_units: u64,
    pays_worker: bool,
    pays_treasury: bool,
}

impl Accounts {
    fn validate(&self, job: &Job, worker: &Worker) -> Result {
        Actor { signer: &self.signer, gateway: self.gateway.as_ref() }
            .require_controller(job.controller())?;
        job.require_credit_account(self.credit_account.address())?;
        job.require_worker(self.worker.address())?;
        require_address(&self.worker_payout, worker.payout())?;
        require_address(&self.vault, &VAULT_ADDRESS)?;
        require_address(&self.treasury_vault, &TREASURY_VAULT_ADDRESS)
    }

    fn plan(&self, credits: u64, share_basis_points: u16, mint: &Address) -> Result<Payment> {
        let total_base_units = base_units(credits)?;
        let treasury_base_units = share_base_units(credits, share_basis_points)?;
        let worker_base_units = total_base_units.checked_sub(treasury_base_units).or_overflow()?;
        let vault_pays =
            token::usable(&self.vault, mint).is_ok_and(|vault| vault.amount() >= total_base_units);
        Ok(Payment {
            worker_base_units,
            treasury_base_units,
            pays_worker: vault_pays && token::usable(&self.worker_payout, mint).is_ok(),
            pays_treasury: vault_pays && token::usable(&self.treasury_vault, mint).is_ok(),
        })
    }

    fn pay(&self, payment: &Payment) -> Result {
        if payment.pays_worker && payment.worker_base_units > 0 {
            token::pay(
                &self.vault,
                &self.worker_payout,
                &self.vault_authority,
                payment.worker_base_units,
            )?;
        }
        if payment.pays_treasury && payment.treasury_base_units > 0 {
            token::pay(
                &self.vault,
                &self.treasury_vault,
                &self.vault_authority,
                payment.treasury_base_units,
            )?;
        }
        Ok(())
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
    accounts.validate(job, worker)?;
    let clock = Clock::get();

    let charged =
        job.settle(
            arguments.delivered_hash,
            arguments.counted_tokens,
            accounts.signer.address(),
            clock.unix_time,
        )?;
    credit_account.unlock(job.locked_credits(), charged)?;
    worker.count_settled()?;

    let payment =
        accounts.plan(charged, job.treasury_share_basis_points(), config.credit_mint())?;
    if !payment.pays_worker {
        worker.add_claimable(payment.worker_base_units)?;
    }
    if !payment.pays_treasury {
        treasury.add_unpaid(payment.treasury_base_units)?;
        treasury.changed()?;
    }
    job.changed()?;
    credit_account.changed()?;
    worker.changed()?;
    accounts.pay(&payment)?;

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
            charged_credits: charged,
            returned_credits: job.locked_credits() - charged,
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
        },
    );
    Ok(())
}
