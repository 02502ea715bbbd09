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

use crate::{
    error::Result,
    events::{JobSettled, OutputPart, PaymentPart, SettledPart},
    settlement::{Settlement, SettlementAccounts as Accounts},
    wire::arguments,
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

#[inline(always)]
pub fn process(accounts: Accounts, arguments: Arguments) -> Result {
    let mut settlement = Settlement::begin(&accounts)?;
    settlement.job.require_worker(accounts.worker.address())?;

    let payment = settlement.settle(arguments.delivered_hash, arguments.counted_tokens)?;

    JobSettled {
        settled: SettledPart(&accounts, &settlement),
        output: OutputPart(settlement.job),
        payment: PaymentPart(&settlement, &payment),
    }
    .emit(&accounts.event_authority, &settlement.clock)
}
