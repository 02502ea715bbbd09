//! A job's moves from status to status. Each refuses the wrong status and the wrong time by name;
//! who may ask for it and what it means for credits is the instruction's part.

use pinocchio::Address;

use super::{Job, Outcome, Status};
use crate::error::{Result, require};

/// The reasons of a failure are numbered from 1 (worker_error) to 7 (lock_late).
const FAILURE_REASON_MAX: u8 = 7;

/// What a worker proved.
#[derive(PartialEq, Eq)]
pub struct Output<'a> {
    pub hash: &'a [u8; 32],
    pub prompt_tokens: u32,
    pub completion_tokens: u32,
}

impl Job {
    /// Whether this acknowledgement is already recorded, so that repeating it changes nothing.
    pub fn is_acknowledged(&self, worker: &Address, attempt: u8) -> bool {
        (self.is(Status::Processing) || self.is(Status::Settling))
            && self.attempt == attempt
            && &self.worker == worker
    }

    /// pending, processing → processing
    pub fn acknowledge(&mut self, worker: &Address, attempt: u8, now: i64) -> Result {
        require!(self.is(Status::Pending) || self.is(Status::Processing), WrongJobStatus);
        self.require_in_time(now)?;
        require!(attempt > self.attempt, AttemptNotNewer);
        self.status = Status::Processing as u8;
        self.worker = *worker;
        self.attempt = attempt;
        self.acknowledged_after_seconds.set(self.seconds_in_time(now));
        Ok(())
    }

    /// Whether this proof is already recorded, so that repeating it changes nothing.
    pub fn is_proven(&self, output: &Output) -> bool {
        self.is(Status::Settling) && self.output() == *output
    }

    /// Refuses a proof that comes at the wrong time, before anything is verified.
    pub fn require_provable(&self, now: i64) -> Result {
        require!(!self.is(Status::Settling), ProofAlreadyGiven);
        require!(self.is(Status::Processing), WrongJobStatus);
        self.require_in_time(now)
    }

    /// processing → settling
    pub fn prove(&mut self, output: &Output, now: i64) -> Result {
        self.require_provable(now)?;
        self.status = Status::Settling as u8;
        self.output_hash = *output.hash;
        self.prompt_tokens.set(output.prompt_tokens);
        self.completion_tokens.set(output.completion_tokens);
        self.proven_after_seconds.set(self.seconds_in_time(now));
        Ok(())
    }

    /// settling → settled. Returns what is charged: the price of the lower count, never above the
    /// lock.
    pub fn settle(
        &mut self,
        delivered_hash: &[u8; 32],
        counted_tokens: u32,
        now: i64,
    ) -> Result<u64> {
        require!(self.is(Status::Settling), WrongJobStatus);
        self.require_in_time(now)?;
        require!(delivered_hash == &self.output_hash, OutputMismatch);
        require!(counted_tokens > 0, NothingCounted);
        let tokens = counted_tokens.min(self.completion_tokens());
        let credits = self.prices().charge_credits(tokens).min(self.locked_credits());
        self.status = Status::Settled as u8;
        self.counted_tokens.set(counted_tokens);
        self.charged_credits.set(credits);
        self.ended_after_seconds.set(self.seconds_since_lock(now)?);
        Ok(credits)
    }

    /// pending, processing, settling → failed. Once a proof is recorded, only an output that was
    /// not the proven one, or was empty, can fail.
    pub fn fail(
        &mut self,
        reason: u8,
        delivered_hash: &[u8; 32],
        counted_tokens: u32,
        now: i64,
    ) -> Result {
        require!(self.holds_lock(), WrongJobStatus);
        self.require_in_time(now)?;
        require!((1..=FAILURE_REASON_MAX).contains(&reason), InvalidReason);
        if self.is(Status::Settling) {
            require!(delivered_hash != &self.output_hash || counted_tokens == 0, OutputMatches);
        }
        self.status = Status::Failed as u8;
        self.failure_reason = reason;
        self.ended_after_seconds.set(self.seconds_since_lock(now)?);
        Ok(())
    }

    /// pending, processing, settling → refunded
    pub fn refund(&mut self, now: i64) -> Result {
        require!(self.holds_lock(), WrongJobStatus);
        require!(now > self.deadline(), DeadlineNotReached);
        self.status = Status::Refunded as u8;
        self.ended_after_seconds.set(self.seconds_since_lock(now)?);
        Ok(())
    }

    /// settled → disputed, once. Returns when the arbitration ends.
    pub fn dispute(&mut self, client_hash: &[u8; 32], now: i64) -> Result<i64> {
        let fresh = self.outcome == Outcome::None as u8 && !self.is(Status::Disputed);
        require!(fresh, AlreadyDisputed);
        require!(self.is(Status::Settled), WrongJobStatus);
        require!(now <= self.dispute_deadline(), DisputeWindowClosed);
        require!(client_hash != &self.output_hash, HashesEqual);
        self.status = Status::Disputed as u8;
        self.client_hash = *client_hash;
        self.disputed_after_seconds.set(self.seconds_since_lock(now)?);
        Ok(self.arbitration_deadline())
    }

    /// disputed → settled (rejected) or refunded (upheld). Returns the credits that were charged.
    pub fn resolve(&mut self, outcome: Outcome, now: i64) -> Result<u64> {
        require!(self.is(Status::Disputed), WrongJobStatus);
        require!(now <= self.arbitration_deadline(), ArbitrationClosed);
        let credits = self.charged_credits();
        if outcome == Outcome::Rejected {
            self.status = Status::Settled as u8;
        } else {
            self.status = Status::Refunded as u8;
            self.charged_credits.set(0);
        }
        self.outcome = outcome as u8;
        self.resolved_after_seconds.set(self.seconds_since_lock(now)?);
        Ok(credits)
    }

    /// disputed → settled
    pub fn expire(&mut self, now: i64) -> Result {
        require!(self.is(Status::Disputed), WrongJobStatus);
        require!(now > self.arbitration_deadline(), ArbitrationOpen);
        self.status = Status::Settled as u8;
        self.outcome = Outcome::Expired as u8;
        self.resolved_after_seconds.set(self.seconds_since_lock(now)?);
        Ok(())
    }
}
