//! Gives a job up and returns its lock. A proven job fails only if the delivered output differs or
//! is empty.
//!
//! Emits `JobFailed`.
//!
//! # Errors
//! - `Unauthorized`: `signer` does not act for the job's controller
//! - `WrongAddress`: `credit_account` is not the job's
//! - `WrongJobStatus`: The job is not pending, processing or settling
//! - `DeadlinePassed`: More than `JOB_TIMEOUT_SECONDS` have passed since the lock
//! - `InvalidReason`
//! - `OutputMatches`: The job is proven, `delivered_hash` is the proven one and `counted_tokens` is
//!   not zero

use crate::{
    checks::{accounts, controller::Actor},
    error::Result,
    events::{BalancePart, CreditPart, JobFailed, JobPart},
    state::{CreditAccount, Job, job::FailureReason},
    wire::{Clock, arguments, byte::Byte, load_mut},
};

arguments! {
    pub struct Arguments<'a> {
        /// Any but none
        reason: Byte<FailureReason>,
        /// Looked at only once a proof is recorded
        delivered_hash: &'a [u8; 32],
        /// Looked at only once a proof is recorded
        counted_tokens: u32,
    }
}

accounts! {
    pub struct Accounts {
        /// The controller, or one of its signers
        signer: Signer,
        /// Given when the controller is a gateway
        gateway: Optional,
        job: Writable,
        /// The job's credit account
        credit_account: Writable,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, arguments: Arguments) -> Result {
    let job: &mut Job = load_mut(&accounts.job)?;
    let credit_account: &mut CreditAccount = load_mut(&accounts.credit_account)?;
    Actor { signer: &accounts.signer, gateway: accounts.gateway.as_ref() }
        .require_controller(job.controller())?;
    job.require_credit_account(accounts.credit_account.address())?;
    let clock = Clock::get();

    job.fail(
        arguments.reason,
        arguments.delivered_hash,
        arguments.counted_tokens,
        clock.unix_time,
    )?;
    credit_account.unlock(job, 0)?;
    job.changed()?;
    credit_account.changed()?;

    JobFailed {
        job: JobPart(&accounts.job, job),
        account: CreditPart(&accounts.credit_account, credit_account),
        reason: arguments.reason,
        returned_credits: job.locked_credits(),
        balance: BalancePart(credit_account),
    }
    .emit(&accounts.event_authority, &clock)
}
