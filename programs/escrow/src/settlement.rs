//! Charges a proven job and pays worker and treasury: what `job_settle` and `job_complete` share.

use pinocchio::AccountView;

use crate::{
    checks::{accounts, controller::Actor, require_address, token},
    error::{OrOverflow, Result},
    limits::{base_units, share_base_units},
    seeds::{TREASURY_VAULT_ADDRESS, VAULT_ADDRESS},
    state::{Config, CreditAccount, Job, Treasury, Worker},
    wire::{Clock, load, load_mut},
};

accounts! {
    /// The accounts of both instructions.
    pub struct SettlementAccounts {
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

/// A settlement: what it reads and changes, who signs it, and when.
pub struct Settlement<'a> {
    accounts: &'a SettlementAccounts,
    pub config: &'a Config,
    pub job: &'a mut Job,
    pub credit_account: &'a mut CreditAccount,
    pub worker: &'a mut Worker,
    pub treasury: &'a mut Treasury,
    pub clock: Clock,
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

impl SettlementAccounts {
    /// Who signs.
    #[inline(always)]
    pub fn actor(&self) -> Actor<'_> {
        Actor { signer: &self.signer, gateway: self.gateway.as_ref() }
    }

    fn pay(&self, payment: &Payment) -> Result {
        let worker = (payment.pays_worker, &self.worker_payout, payment.worker_base_units);
        let treasury = (payment.pays_treasury, &self.treasury_vault, payment.treasury_base_units);
        for (pays, payee, base_units) in [worker, treasury] {
            if pays && base_units > 0 {
                token::pay(&self.vault, payee, &self.vault_authority, base_units)?;
            }
        }
        Ok(())
    }
}

impl<'a> Settlement<'a> {
    /// Reads the accounts. Refuses a signer that does not act for the job's controller.
    #[inline(always)]
    pub fn begin(accounts: &'a SettlementAccounts) -> Result<Self> {
        let settlement = Self {
            accounts,
            config: load(&accounts.config)?,
            job: load_mut(&accounts.job)?,
            credit_account: load_mut(&accounts.credit_account)?,
            worker: load_mut(&accounts.worker)?,
            treasury: load_mut(&accounts.treasury)?,
            clock: Clock::get(),
        };
        accounts.actor().require_controller(settlement.job.controller())?;
        Ok(settlement)
    }

    /// Settles the job, whose proof is recorded. What cannot be paid now becomes claimable.
    pub fn settle(&mut self, delivered_hash: &[u8; 32], counted_tokens: u32) -> Result<Payment> {
        let accounts = self.accounts;
        self.job.require_credit_account(accounts.credit_account.address())?;
        require_address(&accounts.worker_payout, self.worker.payout())?;
        require_address(&accounts.vault, &VAULT_ADDRESS)?;
        require_address(&accounts.treasury_vault, &TREASURY_VAULT_ADDRESS)?;

        let signer = accounts.signer.address();
        let charged =
            self.job.settle(delivered_hash, counted_tokens, signer, self.clock.unix_time)?;
        self.credit_account.unlock(self.job, charged)?;
        self.worker.count_settled()?;

        let payment = self.plan(charged)?;
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
        accounts.pay(&payment)?;
        Ok(payment)
    }

    fn plan(&self, charged_credits: u64) -> Result<Payment> {
        let mint = self.config.credit_mint();
        let share_basis_points = self.job.treasury_share_basis_points();
        let total_base_units = base_units(charged_credits)?;
        let treasury_base_units = share_base_units(charged_credits, share_basis_points)?;
        let vault_pays = token::usable(&self.accounts.vault, mint)
            .is_ok_and(|vault| vault.amount() >= total_base_units);
        let is_usable = |payee: &AccountView| token::usable(payee, mint).is_ok();
        Ok(Payment {
            charged_credits,
            worker_base_units: total_base_units.checked_sub(treasury_base_units).or_overflow()?,
            treasury_base_units,
            pays_worker: vault_pays && is_usable(&self.accounts.worker_payout),
            pays_treasury: vault_pays && is_usable(&self.accounts.treasury_vault),
        })
    }
}
