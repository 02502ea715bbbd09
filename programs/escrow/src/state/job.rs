//! One job from its lock to its end: the authoritative state.
//!
//! Terms and prices are copied from Config and Model at the lock, so nothing that changes later
//! reaches a job in flight. Times are seconds since the lock. There is no reserved space: a job
//! lives for minutes, and its rent is the operator's float.

mod transitions;
mod words;

use pinocchio::Address;

pub use {
    transitions::Output,
    words::{DisputeOutcome, FailureReason, JobStatus},
};

use crate::{
    error::{OrOverflow, Result, require},
    limits::{
        ARBITRATION_WINDOW_SECONDS, BASE_UNITS_PER_CREDIT, DISPUTE_WINDOW_SECONDS,
        JOB_ID_CLOSE_MS_MIN, JOB_TIMEOUT_SECONDS, share_base_units,
    },
    seeds::NONE,
    state::{Config, Model, model::Tier, pricing::Prices},
    wire::{
        byte::Byte,
        layout::layout,
        little_endian::{Flag, I64, U16, U32, U64},
    },
};

/// One job
#[repr(C)]
pub struct Job {
    discriminator: [u8; 8],
    version: u8,
    bump: u8,
    /// Grows by one with every change
    sequence: U32,
    status: Byte<JobStatus>,
    /// The recorded attempt, from 1; zero before the first acknowledgement
    attempt: u8,
    tier: Byte<Tier>,
    outcome: Byte<DisputeOutcome>,
    failure_reason: Byte<FailureReason>,
    treasury_share_basis_points: U16,
    /// A UUID of version 7 in network order
    job_id: [u8; 16],
    credit_account: Address,
    /// Alone acknowledges, settles and fails the job: a key or a Gateway
    controller: Address,
    model: Address,
    /// The acknowledged Worker account; zero before
    worker: Address,
    /// Gets the rent back when the job is closed
    rent_payer: Address,
    /// The sha256 that the worker proved; zero before
    output_hash: [u8; 32],
    /// The sha256 that the client received, once disputed; zero before
    client_hash: [u8; 32],
    /// The key that signed the settlement and the delivery receipt; zero before
    settled_by: Address,
    locked_at: I64,
    /// What was locked; still locked while the job is pending, processing or settling
    locked_credits: U64,
    /// What was charged, less what an upheld dispute repaid; zero before settlement
    charged_credits: U64,
    credits_per_request: U32,
    credits_per_1k_tokens: U32,
    long_completion_threshold_tokens: U32,
    /// The most tokens the answer may have
    token_limit: U32,
    /// As proven
    prompt_tokens: U32,
    /// As proven
    completion_tokens: U32,
    /// As counted by the controller at settlement
    counted_tokens: U32,
    /// Whole tokens that a verdict against the worker takes
    slash_tokens: U32,
    job_timeout_seconds: U16,
    dispute_window_seconds: U16,
    arbitration_window_seconds: U32,
    acknowledged_after_seconds: U16,
    proven_after_seconds: U16,
    /// Settled, failed or refunded for the first time
    ended_after_seconds: U32,
    disputed_after_seconds: U32,
    resolved_after_seconds: U32,
    /// Locked through a gateway that the authority vouched for then
    vouched: Flag,
    /// The wallet itself opened the dispute, or amended it
    disputed_by_wallet: Flag,
    /// The day of UTC whose limit counts the lock; zero when the wallet itself locked
    limit_day: U32,
}

/// Transitions whose times are stored in 16 bits of seconds are possible only before the timeout,
/// so these times fit.
const _: () = assert!(JOB_TIMEOUT_SECONDS < u16::MAX);

layout! {
    Job {
        sequence: u32,
        numbers {
            treasury_share_basis_points: u16,
            locked_at: i64,
            locked_credits: u64,
            charged_credits: u64,
            token_limit: u32,
            prompt_tokens: u32,
            completion_tokens: u32,
            counted_tokens: u32,
            slash_tokens: u32,
            job_timeout_seconds: u16,
            dispute_window_seconds: u16,
            arbitration_window_seconds: u32,
            limit_day: u32,
        }
        bytes { attempt: u8, tier: Byte<Tier>, }
        references {
            job_id: [u8; 16],
            credit_account: Address,
            controller: Address,
            model: Address,
            worker: Address,
            rent_payer: Address,
            output_hash: [u8; 32],
            client_hash: [u8; 32],
            settled_by: Address,
        }
    }
}

/// Who locks a job, and whether the authority vouches for it.
pub struct Controller<'a> {
    pub address: &'a Address,
    pub vouched: bool,
}

/// What a new job is made of, besides what it copies from Config and Model.
pub struct Lock<'a> {
    pub job_id: &'a [u8; 16],
    pub credit_account: &'a Address,
    pub controller: &'a Controller<'a>,
    pub model: &'a Address,
    pub rent_payer: &'a Address,
    pub token_limit: u32,
    pub credits: u64,
    pub limit_day: u32,
    pub now: i64,
}

impl Job {
    pub fn open(&mut self, lock: &Lock, config: &Config, model: &Model) {
        let prices = model.prices();
        self.tier = model.tier();
        self.treasury_share_basis_points.set(config.treasury_share_basis_points());
        self.job_id = *lock.job_id;
        self.credit_account = *lock.credit_account;
        self.controller = *lock.controller.address;
        self.vouched.set(lock.controller.vouched);
        self.model = *lock.model;
        self.rent_payer = *lock.rent_payer;
        self.locked_at.set(lock.now);
        self.locked_credits.set(lock.credits);
        self.credits_per_request.set(prices.credits_per_request);
        self.credits_per_1k_tokens.set(prices.credits_per_1k_tokens);
        self.long_completion_threshold_tokens.set(prices.long_completion_threshold_tokens);
        self.token_limit.set(lock.token_limit);
        self.limit_day.set(lock.limit_day);
        self.slash_tokens.set(config.slash_tokens());
        self.job_timeout_seconds.set(JOB_TIMEOUT_SECONDS);
        self.dispute_window_seconds.set(DISPUTE_WINDOW_SECONDS);
        self.arbitration_window_seconds.set(ARBITRATION_WINDOW_SECONDS);
    }

    /// Refuses while anything can still happen to the job, or while its id could be locked again.
    pub fn require_closable(&self, now: i64) -> Result {
        let is_final = self.status.is(JobStatus::Failed)
            || self.status.is(JobStatus::Refunded)
            || self.status.is(JobStatus::Settled)
                && (!self.outcome.is(DisputeOutcome::None) || now > self.dispute_deadline());
        require!(is_final, JobNotClosable);
        let closable_at =
            (job_id_time_ms(&self.job_id) + u64::from(JOB_ID_CLOSE_MS_MIN)).div_ceil(1000);
        require!(now >= closable_at as i64, JobNotClosable);
        Ok(())
    }

    /// Refuses a credit account that is not the job's.
    pub fn require_credit_account(&self, credit_account: &Address) -> Result {
        require!(credit_account == &self.credit_account, WrongAddress);
        Ok(())
    }

    /// Refuses a worker that is not the job's.
    pub fn require_worker(&self, worker: &Address) -> Result {
        require!(worker == &self.worker, WrongAddress);
        Ok(())
    }

    pub fn prices(&self) -> Prices {
        Prices {
            credits_per_request: self.credits_per_request.get(),
            credits_per_1k_tokens: self.credits_per_1k_tokens.get(),
            long_completion_threshold_tokens: self.long_completion_threshold_tokens.get(),
        }
    }

    pub fn vouched(&self) -> bool {
        self.vouched.get()
    }

    pub fn disputed_by_wallet(&self) -> bool {
        self.disputed_by_wallet.get()
    }

    /// The most that an upheld dispute repays. A controller that is also the worker can make
    /// evidence against itself. So without a vouched gateway the treasury gives back no more than
    /// it received of this job.
    pub fn repayable_credits(&self) -> Result<u64> {
        if self.vouched() { Ok(self.charged_credits()) } else { self.treasury_credits() }
    }

    /// What this verdict repays. A worker whose stake is below the slash could convict itself at no
    /// cost. So for it, too, the treasury gives back no more than it received.
    fn repaid_credits(&self, outcome: DisputeOutcome, slashed_tokens: u64) -> Result<u64> {
        let slash_tokens = u64::from(self.slash_tokens());
        match outcome {
            DisputeOutcome::Rejected => Ok(0),
            DisputeOutcome::UpheldWorker if slashed_tokens < slash_tokens => {
                self.treasury_credits()
            }
            _ => self.repayable_credits(),
        }
    }

    /// What the treasury received of the charge, rounded down.
    fn treasury_credits(&self) -> Result<u64> {
        let share = share_base_units(self.charged_credits(), self.treasury_share_basis_points())?;
        Ok(share / BASE_UNITS_PER_CREDIT)
    }

    /// The second in which the proof was recorded.
    pub fn proven_at(&self) -> i64 {
        self.locked_at() + i64::from(self.proven_after_seconds.get())
    }

    pub fn output(&self) -> Output<'_> {
        Output {
            hash: &self.output_hash,
            prompt_tokens: self.prompt_tokens(),
            completion_tokens: self.completion_tokens(),
        }
    }

    /// While this is so, the job's credits are locked.
    fn holds_lock(&self) -> bool {
        self.status.is_at_most(JobStatus::Settling)
    }

    fn deadline(&self) -> i64 {
        self.locked_at() + i64::from(self.job_timeout_seconds())
    }

    #[inline(always)]
    fn dispute_deadline(&self) -> i64 {
        self.locked_at()
            + (i64::from(self.ended_after_seconds.get()) + i64::from(self.dispute_window_seconds()))
    }

    fn arbitration_deadline(&self) -> i64 {
        self.locked_at()
            + (i64::from(self.disputed_after_seconds.get())
                + i64::from(self.arbitration_window_seconds()))
    }

    fn require_in_time(&self, now: i64) -> Result {
        require!(now <= self.deadline(), DeadlinePassed);
        Ok(())
    }

    /// The ledger's clock may be set back a little: then no time has passed.
    fn seconds_since_lock(&self, now: i64) -> Result<u32> {
        u32::try_from((now - self.locked_at()).max(0)).ok().or_overflow()
    }

    /// Like `seconds_since_lock` for transitions that the timeout bounds.
    fn seconds_in_time(&self, now: i64) -> u16 {
        (now - self.locked_at()).clamp(0, i64::from(u16::MAX)) as u16
    }

    fn is_consistent(&self) -> bool {
        let is_assigned = self.attempt >= 1 && self.worker != NONE;
        let is_unassigned = self.attempt == 0 && self.worker == NONE;
        let assignment = match self.status.get() {
            Some(JobStatus::Pending) => is_unassigned,
            Some(JobStatus::Failed | JobStatus::Refunded) => is_assigned || is_unassigned,
            Some(_) => is_assigned,
            None => false,
        };
        let was_repaid = self.outcome.is(DisputeOutcome::UpheldGateway)
            || self.outcome.is(DisputeOutcome::UpheldWorker);
        let may_be_charged = self.status.is(JobStatus::Settled)
            || self.status.is(JobStatus::Disputed)
            || self.status.is(JobStatus::Refunded) && was_repaid;
        assignment
            && self.charged_credits() <= self.locked_credits()
            && (may_be_charged || self.charged_credits() == 0)
            && !self.failure_reason.is(FailureReason::None) == self.status.is(JobStatus::Failed)
    }
}

/// The time inside a UUID of version 7: its first 48 bits.
pub fn job_id_time_ms(job_id: &[u8; 16]) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = *job_id;
    u64::from_be_bytes([a, b, c, d, e, f, g, h]) >> 16
}
