//! Charges a proven job and pays worker and treasury: what `job_settle` and `job_complete` share.

use pinocchio::{AccountView, Address};

use crate::{
    checks::{roles::require_address, token},
    error::{OrOverflow, Result},
    limits::{base_units, share_base_units},
    seeds::{TREASURY_VAULT_ADDRESS, VAULT_ADDRESS},
    state::{Config, CreditAccount, Job, Treasury, Worker},
};

/// The token accounts of a payment.
pub struct Payees<'a> {
    pub vault: &'a AccountView,
    pub vault_authority: &'a AccountView,
    pub worker_payout: &'a AccountView,
    pub treasury_vault: &'a AccountView,
}

/// A settlement: what it changes, who signs it, and when.
pub struct Settlement<'a> {
    pub config: &'a Config,
    pub job: &'a mut Job,
    pub credit_account: &'a mut CreditAccount,
    pub worker: &'a mut Worker,
    pub treasury: &'a mut Treasury,
    pub payees: Payees<'a>,
    pub signer: &'a Address,
    pub now: i64,
}

/// Who gets what, and whether it can be paid now. A failed transfer cannot be caught, so everything
/// that could make one fail is looked at first.
pub struct Payment {
    pub charged_credits: u64,
    pub worker_base_units: u64,
    pub treasury_base_units: u64,
    pub pays_worker: bool,
    pub pays_treasury: bool,
}

impl Payees<'_> {
    /// Refuses token accounts that are not the program's and the worker's.
    pub fn validate(&self, worker: &Worker) -> Result {
        require_address(self.worker_payout, worker.payout())?;
        require_address(self.vault, &VAULT_ADDRESS)?;
        require_address(self.treasury_vault, &TREASURY_VAULT_ADDRESS)
    }

    fn plan(&self, credits: u64, share_basis_points: u16, mint: &Address) -> Result<Payment> {
        let total_base_units = base_units(credits)?;
        let treasury_base_units = share_base_units(credits, share_basis_points)?;
        let worker_base_units = total_base_units.checked_sub(treasury_base_units).or_overflow()?;
        let vault_pays =
            token::usable(self.vault, mint).is_ok_and(|vault| vault.amount() >= total_base_units);
        Ok(Payment {
            charged_credits: credits,
            worker_base_units,
            treasury_base_units,
            pays_worker: vault_pays && token::usable(self.worker_payout, mint).is_ok(),
            pays_treasury: vault_pays && token::usable(self.treasury_vault, mint).is_ok(),
        })
    }

    fn pay(&self, payment: &Payment) -> Result {
        let worker = (payment.pays_worker, self.worker_payout, payment.worker_base_units);
        let treasury = (payment.pays_treasury, self.treasury_vault, payment.treasury_base_units);
        for (pays, payee, base_units) in [worker, treasury] {
            if pays && base_units > 0 {
                token::pay(self.vault, payee, self.vault_authority, base_units)?;
            }
        }
        Ok(())
    }
}

impl Settlement<'_> {
    /// Settles the job, whose proof is recorded. What cannot be paid now becomes claimable.
    pub fn settle(&mut self, delivered_hash: &[u8; 32], counted_tokens: u32) -> Result<Payment> {
        let charged = self.job.settle(delivered_hash, counted_tokens, self.signer, self.now)?;
        self.credit_account.unlock(self.job, charged)?;
        self.worker.count_settled()?;

        let share_basis_points = self.job.treasury_share_basis_points();
        let payment = self.payees.plan(charged, share_basis_points, self.config.credit_mint())?;
        if !payment.pays_worker {
            self.worker.add_claimable(payment.worker_base_units)?;
        }
        if !payment.pays_treasury {
            self.treasury.add_unpaid(payment.treasury_base_units)?;
            self.treasury.changed()?;
        }
        self.job.changed()?;
        self.credit_account.changed()?;
        self.worker.changed()?;
        self.payees.pay(&payment)?;
        Ok(payment)
    }
}
