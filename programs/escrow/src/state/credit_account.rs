//! The prepaid credits of one wallet.

use pinocchio::Address;

use crate::{
    error::{OrOverflow, Result, require},
    limits::CREDITS_MAX,
    seeds::NONE,
    state::Job,
    wire::{
        layout::layout,
        little_endian::{I64, U32, U64},
    },
};

const SECONDS_PER_DAY: u64 = 24 * 60 * 60;

/// A wallet's credits, its spender and the limits that bind that spender
#[repr(C)]
pub struct CreditAccount {
    discriminator: [u8; 8],
    version: u8,
    bump: u8,
    /// Grows by one with every change
    sequence: U64,
    /// Owns the credits
    wallet: Address,
    /// A key or a Gateway that may lock credits; zero when none is set
    spender: Address,
    /// The most the spender may lock for one job; the largest number means no limit. Zero without a
    /// spender
    limit_per_job_credits: U64,
    /// The most that the locks of one day of UTC may charge and hold; the largest number means no
    /// limit. Zero without a spender
    limit_per_day_credits: U64,
    /// The day `spent_today_credits` counts, in days since 1970
    spent_day: U32,
    /// Of what the spender locked on `spent_day`: what was charged, and what is still locked
    spent_today_credits: U64,
    /// Free to be locked or withdrawn
    available_credits: U64,
    /// Held by jobs that are not final
    locked_credits: U64,
    /// Owed by the treasury after upheld disputes
    owed_credits: U64,
    open_disputes: u8,
    opened_at: I64,
    /// Zero before the first purchase
    last_topup_at: I64,
    reserved: [u8; 64],
}

layout! {
    CreditAccount {
        sequence: u64,
        numbers {
            limit_per_job_credits: u64,
            limit_per_day_credits: u64,
            spent_day: u32,
            spent_today_credits: u64,
            available_credits: u64,
            locked_credits: u64,
            owed_credits: u64,
        }
        bytes { open_disputes: u8, }
        references { wallet: Address, spender: Address, }
    }
}

/// What binds a spender; `NO_LIMIT` binds nothing.
pub struct Limits {
    pub per_job_credits: u64,
    pub per_day_credits: u64,
}

impl Limits {
    fn are_zero(&self) -> bool {
        self.per_job_credits == 0 && self.per_day_credits == 0
    }
}

impl CreditAccount {
    pub fn open(
        &mut self,
        wallet: &Address,
        spender: &Address,
        limits: &Limits,
        now: i64,
    ) -> Result {
        self.wallet = *wallet;
        self.opened_at.set(now);
        self.set_spender(spender, limits)
    }

    /// Refuses anybody but the wallet.
    pub fn require_wallet(&self, signer: &Address) -> Result {
        require!(signer == &self.wallet, Unauthorized);
        Ok(())
    }

    /// Names a spender together with its limits, so that none ever spends under limits that were
    /// meant for another, or under none by default. Only what was spent today goes on counting.
    pub fn set_spender(&mut self, spender: &Address, limits: &Limits) -> Result {
        let is_named = spender != &NONE;
        require!(is_named || limits.are_zero(), ValueOutOfRange);
        self.spender = *spender;
        self.store(limits);
        Ok(())
    }

    pub fn set_limits(&mut self, limits: &Limits) -> Result {
        require!(self.spender != NONE, SpenderNotSet);
        self.store(limits);
        Ok(())
    }

    fn store(&mut self, limits: &Limits) {
        self.limit_per_job_credits.set(limits.per_job_credits);
        self.limit_per_day_credits.set(limits.per_day_credits);
    }

    /// Credits were bought. Refuses to hold more than `credits_max`.
    pub fn buy(&mut self, credits: u64, credits_max: u64, now: i64) -> Result {
        let held = self.available_credits() + self.locked_credits() + self.owed_credits();
        let room = credits_max.saturating_sub(held);
        require!(credits <= room, CreditAccountFull);
        self.last_topup_at.set(now);
        self.available_credits.add(credits)
    }

    pub fn withdraw(&mut self, credits: u64) -> Result {
        require!(credits <= self.available_credits(), InsufficientCredits);
        self.available_credits.subtract(credits)
    }

    /// Holds the spender to the wallet's limits and counts what it locks. Returns the day that
    /// counts it. Only a later day begins at zero: a clock that steps back over midnight would
    /// else allow the same day twice.
    pub fn spend(&mut self, credits: u64, now: i64) -> Result<u32> {
        require!(credits <= self.limit_per_job_credits(), JobLimitExceeded);
        let today = (now.max(0) as u64 / SECONDS_PER_DAY) as u32;
        let spent = if today > self.spent_day() { 0 } else { self.spent_today_credits() };
        let spent = spent.checked_add(credits).or_overflow()?;
        require!(spent <= self.limit_per_day_credits(), DayLimitExceeded);
        self.spent_day.set(today.max(self.spent_day()));
        self.spent_today_credits.set(spent);
        Ok(self.spent_day())
    }

    pub fn lock(&mut self, credits: u64) -> Result {
        require!(credits <= self.available_credits(), InsufficientCredits);
        self.available_credits.subtract(credits)?;
        self.locked_credits.add(credits)
    }

    /// A job ended: its lock is gone, and what was not charged is available again. The limit of the
    /// day that counted the lock has it back, too, while that day lasts.
    pub fn unlock(&mut self, job: &Job, charged_credits: u64) -> Result {
        let returned = job.locked_credits().checked_sub(charged_credits).or_overflow()?;
        self.locked_credits.subtract(job.locked_credits())?;
        if job.limit_day() != 0 && job.limit_day() == self.spent_day() {
            self.spent_today_credits.subtract(returned)?;
        }
        self.available_credits.add(returned)
    }

    /// Refuses more open disputes than the limit. The wallet's own signature allows twice as many.
    /// Otherwise a controller could dispute cheap jobs until the wallet cannot dispute the one
    /// that matters.
    pub fn open_dispute(&mut self, open_disputes_max: u8, is_wallet: bool) -> Result {
        let allowances = if is_wallet { 2 } else { 1 };
        let signers_max = open_disputes_max.saturating_mul(allowances);
        require!(self.open_disputes < signers_max, DisputeLimitReached);
        self.open_disputes += 1;
        Ok(())
    }

    pub fn close_dispute(&mut self) -> Result {
        self.open_disputes = self.open_disputes.checked_sub(1).or_overflow()?;
        Ok(())
    }

    /// An upheld dispute: the treasury owes the charge.
    pub fn owe(&mut self, credits: u64) -> Result {
        self.owed_credits.add(credits)
    }

    /// The treasury paid a part of what it owed.
    pub fn receive_owed(&mut self, credits: u64) -> Result {
        self.owed_credits.subtract(credits)?;
        self.available_credits.add(credits)
    }

    /// Each sum is bounded by what was once bought, which CREDITS_MAX bounds at every purchase.
    fn is_consistent(&self) -> bool {
        self.wallet != NONE
            && self.available_credits() <= CREDITS_MAX
            && self.locked_credits() <= CREDITS_MAX
            && self.owed_credits() <= CREDITS_MAX
    }
}
