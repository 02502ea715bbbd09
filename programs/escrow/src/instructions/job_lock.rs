//! Locks the price of one job; the signer, or its gateway, becomes the job's controller.
//!
//! The price is that of `token_limit` tokens, and never below the model's price of a request. The
//! job copies prices and terms, so later changes do not reach it.
//!
//! Limits bind the spender alone. A day's limit counts what the locks of that day charged and hold.
//! What a job does not charge is given back to it, while the day lasts.
//!
//! Emits `JobLocked`.
//!
//! # Errors
//! - `JobIdInvalid`
//! - `JobIdTooOld`: The id's time lies more than `JOB_ID_AGE_MS_MAX` back
//! - `JobIdInFuture`: The id's time lies more than `JOB_ID_LEAD_MS_MAX` ahead
//! - `SpenderNotSet`: `signer` is neither the wallet nor its spender, and no gateway that is its
//!   spender was given
//! - `Unauthorized`: `gateway` is the spender, and `signer` is none of its signers
//! - `GatewayStopped`
//! - `LocksPaused`
//! - `ModelRetired`
//! - `TokenLimitTooLarge`
//! - `PriceChanged`: The price is above `max_credits`
//! - `JobLimitExceeded`: The price is above `job_credits_max` of the configuration, or above the
//!   spender's limit for a job
//! - `DayLimitExceeded`: The price is above what is left of the spender's limit for the day
//! - `InsufficientCredits`
//! - `NonCanonicalBump`: `job` is not the address of the seeds with bump 255
//! - `AlreadyInitialized`: The wallet has a job with this id already

use pinocchio::{Address, cpi::Seed};

use crate::{
    ID,
    checks::accounts,
    error::{EscrowError, Result, require},
    events::{CreditPart, JobLocked, JobPart, PricesPart},
    limits::{JOB_ID_AGE_MS_MAX, JOB_ID_LEAD_MS_MAX},
    seeds::{BUMP, JOB, NONE},
    state::{
        Config, CreditAccount, Gateway, Job, Model,
        creation::Creation,
        job::{Controller, Lock, job_id_time_ms},
    },
    wire::{Clock, arguments, load, load_mut, sysvars::milliseconds},
};

arguments! {
    pub struct Arguments<'a> {
        /// A UUID of version 7 in network order, with a time close to the ledger's
        job_id: &'a [u8; 16],
        /// The most tokens the answer may have, from 1 to the model's context window
        token_limit: u32,
        /// The highest price the caller accepts
        max_credits: u64,
    }
}

accounts! {
    pub struct Accounts {
        /// Pays the rent and is repaid when the job is closed
        payer: WritableSigner,
        /// The wallet, its spender or a signer of its gateway
        signer: Signer,
        /// Given when the spender is a gateway
        gateway: Optional,
        config: Readonly,
        #[pda(CREDIT_ACCOUNT, wallet)]
        credit_account: Writable,
        #[pda(MODEL, model_id)]
        model: Readonly,
        #[pda(JOB, credit_account, job_id)]
        job: Writable,
        system_program: SystemProgram,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

impl Arguments<'_> {
    /// A UUID of version 7 whose time is close to the ledger's. That closeness is what keeps an id
    /// from being used again after its account was closed.
    fn require_fresh_id(&self, now: i64) -> Result {
        let is_version_7 = self.job_id[6] >> 4 == 7 && self.job_id[8] >> 6 == 0b10;
        require!(is_version_7, JobIdInvalid);
        let age_ms = milliseconds(now) - job_id_time_ms(self.job_id) as i64;
        require!(age_ms <= i64::from(JOB_ID_AGE_MS_MAX), JobIdTooOld);
        require!(age_ms >= -i64::from(JOB_ID_LEAD_MS_MAX), JobIdInFuture);
        Ok(())
    }

    /// What the lock costs now.
    fn price(&self, config: &Config, model: &Model, now: i64) -> Result<u64> {
        require!(!config.locks_paused(), LocksPaused);
        require!(!model.is_retired(now), ModelRetired);
        require!(
            (1..=model.context_window_tokens()).contains(&self.token_limit),
            TokenLimitTooLarge
        );
        let credits = model.prices().lock_credits(self.token_limit);
        require!(credits <= self.max_credits, PriceChanged);
        require!(credits <= config.job_credits_max(), JobLimitExceeded);
        Ok(credits)
    }
}

impl Accounts {
    /// The wallet, the spender's key, or the gateway that the spender is.
    fn controller(&self, credit_account: &CreditAccount) -> Result<Controller<'_>> {
        let signer = self.signer.address();
        if signer == credit_account.wallet() {
            return Ok(Controller { address: signer, vouched: false });
        }
        let spender = credit_account.spender();
        require!(spender != &NONE, SpenderNotSet);
        if signer == spender {
            return Ok(Controller { address: signer, vouched: false });
        }
        let named = self.gateway.as_ref().filter(|gateway| gateway.address() == spender);
        let Some(account) = named else {
            return Err(EscrowError::SpenderNotSet);
        };
        let gateway: &Gateway = load(account)?;
        require!(gateway.signers().contains(signer), Unauthorized);
        require!(!gateway.stopped(), GatewayStopped);
        Ok(Controller { address: account.address(), vouched: gateway.vouched() })
    }

    fn create_job(&self, job_id: &[u8; 16]) -> Result<&mut Job> {
        let credit_account = self.credit_account.address().as_array();
        // Hashing costs a tenth of the syscall that also looks for a lower bump. Whether the
        // address is off the curve is checked by the creation itself.
        let address = Address::derive_address(&[JOB, credit_account, job_id], Some(BUMP), &ID);
        require!(self.job.address() == &address, NonCanonicalBump);
        let seeds =
            [Seed::from(JOB), Seed::from(credit_account), Seed::from(job_id), Seed::from(&[BUMP])];
        Creation { payer: &self.payer, account: &self.job }.fixed(&seeds)
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, arguments: Arguments) -> Result {
    let config: &Config = load(&accounts.config)?;
    let credit_account: &mut CreditAccount = load_mut(&accounts.credit_account)?;
    let model: &Model = load(&accounts.model)?;
    let clock = Clock::get();
    arguments.require_fresh_id(clock.unix_time)?;
    let controller = accounts.controller(credit_account)?;
    let credits = arguments.price(config, model, clock.unix_time)?;

    // The wallet's own signature is bound by nothing but its balance.
    let is_wallet = accounts.signer.address() == credit_account.wallet();
    let limit_day = if is_wallet { 0 } else { credit_account.spend(credits, clock.unix_time)? };
    credit_account.lock(credits)?;
    credit_account.changed()?;

    let job = accounts.create_job(arguments.job_id)?;
    job.open(
        &Lock {
            job_id: arguments.job_id,
            credit_account: accounts.credit_account.address(),
            controller: &controller,
            model: accounts.model.address(),
            rent_payer: accounts.payer.address(),
            token_limit: arguments.token_limit,
            credits,
            limit_day,
            now: clock.unix_time,
        },
        config,
        model,
    );
    job.invariant()?;

    JobLocked {
        job: JobPart(&accounts.job, job),
        account: CreditPart(&accounts.credit_account, credit_account),
        controller: job.controller(),
        model: job.model(),
        model_id: model.id(),
        tier: job.tier(),
        token_limit: job.token_limit(),
        prices: PricesPart(&job.prices()),
        treasury_share_basis_points: job.treasury_share_basis_points(),
        slash_tokens: job.slash_tokens(),
        job_timeout_seconds: job.job_timeout_seconds(),
        dispute_window_seconds: job.dispute_window_seconds(),
        arbitration_window_seconds: job.arbitration_window_seconds(),
        rent_payer: job.rent_payer(),
        vouched: job.vouched(),
        locked_credits: job.locked_credits(),
        available_credits: credit_account.available_credits(),
        account_locked_credits: credit_account.locked_credits(),
        limit_day: job.limit_day(),
        spent_day: credit_account.spent_day(),
        spent_today_credits: credit_account.spent_today_credits(),
    }
    .emit(&accounts.event_authority, &clock)
}
