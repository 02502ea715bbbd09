//! A job's moves from status to status. Each refuses the wrong status and the wrong time by name.
//! The instruction decides which signers may cause it, and moves the credits.

use pinocchio::Address;

use super::{DisputeOutcome, FailureReason, Job, JobStatus};
use crate::{
    error::{Result, require},
    seeds::NONE,
    wire::byte::Byte,
};

/// What a worker proved.
#[derive(PartialEq, Eq)]
pub struct Output<'a> {
    pub hash: &'a [u8; 32],
    pub prompt_tokens: u32,
    pub completion_tokens: u32,
}

/// The proof that a later attempt put aside; zeros when there was none.
pub struct Voided {
    pub worker: Address,
    pub attempt: u8,
    pub output_hash: [u8; 32],
}

impl Job {
    /// Whether this acknowledgement is already recorded, so that repeating it changes nothing.
    pub fn is_acknowledged(&self, worker: &Address, attempt: u8) -> bool {
        (self.status.is(JobStatus::Processing) || self.status.is(JobStatus::Settling))
            && self.attempt == attempt
            && &self.worker == worker
    }

    /// pending, processing, settling → processing. A proof that was recorded for the attempt before
    /// counts no more. Returns what it was.
    pub fn acknowledge(&mut self, worker: &Address, attempt: u8, now: i64) -> Result<Voided> {
        require!(self.holds_lock(), WrongJobStatus);
        self.require_in_time(now)?;
        require!(attempt > self.attempt, AttemptNotNewer);
        let voided = self.void_proof();
        self.status.set(JobStatus::Processing);
        self.worker = *worker;
        self.attempt = attempt;
        self.acknowledged_after_seconds.set(self.seconds_in_time(now));
        Ok(voided)
    }

    fn void_proof(&mut self) -> Voided {
        if !self.status.is(JobStatus::Settling) {
            return Voided { worker: NONE, attempt: 0, output_hash: [0; 32] };
        }
        let voided =
            Voided { worker: self.worker, attempt: self.attempt, output_hash: self.output_hash };
        self.output_hash = [0; 32];
        self.prompt_tokens.set(0);
        self.completion_tokens.set(0);
        self.proven_after_seconds.set(0);
        voided
    }

    /// Whether a proof is recorded, and not yet settled.
    pub fn is_settling(&self) -> bool {
        self.status.is(JobStatus::Settling)
    }

    /// Whether this proof is already recorded, so that repeating it changes nothing.
    pub fn is_proven(&self, output: &Output) -> bool {
        self.status.is(JobStatus::Settling) && self.output() == *output
    }

    /// Refuses a proof that comes at the wrong time, before anything is verified.
    pub fn require_provable(&self, now: i64) -> Result {
        require!(!self.status.is(JobStatus::Settling), ProofAlreadyGiven);
        require!(self.status.is(JobStatus::Processing), WrongJobStatus);
        self.require_in_time(now)
    }

    /// processing → settling
    pub fn prove(&mut self, output: &Output, now: i64) -> Result {
        self.require_provable(now)?;
        self.status.set(JobStatus::Settling);
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
        signer: &Address,
        now: i64,
    ) -> Result<u64> {
        require!(self.status.is(JobStatus::Settling), WrongJobStatus);
        self.require_in_time(now)?;
        require!(delivered_hash == &self.output_hash, OutputMismatch);
        require!(counted_tokens > 0, NothingCounted);
        let tokens = counted_tokens.min(self.completion_tokens());
        let credits = self.prices().charge_credits(tokens).min(self.locked_credits());
        self.status.set(JobStatus::Settled);
        self.settled_by = *signer;
        self.counted_tokens.set(counted_tokens);
        self.charged_credits.set(credits);
        self.ended_after_seconds.set(self.seconds_since_lock(now)?);
        Ok(credits)
    }

    /// pending, processing, settling → failed. Once a proof is recorded, only an output that was
    /// not the proven one, or was empty, can fail.
    pub fn fail(
        &mut self,
        reason: Byte<FailureReason>,
        delivered_hash: &[u8; 32],
        counted_tokens: u32,
        now: i64,
    ) -> Result {
        require!(self.holds_lock(), WrongJobStatus);
        self.require_in_time(now)?;
        require!(reason.is_known() && !reason.is(FailureReason::None), InvalidReason);
        if self.status.is(JobStatus::Settling) {
            require!(delivered_hash != &self.output_hash || counted_tokens == 0, OutputMatches);
        }
        self.status.set(JobStatus::Failed);
        self.failure_reason = reason;
        self.ended_after_seconds.set(self.seconds_since_lock(now)?);
        Ok(())
    }

    /// pending, processing, settling → refunded
    pub fn refund(&mut self, now: i64) -> Result {
        require!(self.holds_lock(), WrongJobStatus);
        require!(now > self.deadline(), DeadlineNotReached);
        self.status.set(JobStatus::Refunded);
        self.ended_after_seconds.set(self.seconds_since_lock(now)?);
        Ok(())
    }

    /// settled → disputed, once. Returns when the arbitration ends.
    pub fn dispute(&mut self, client_hash: &[u8; 32], is_wallet: bool, now: i64) -> Result<i64> {
        let fresh = self.outcome.is(DisputeOutcome::None) && !self.status.is(JobStatus::Disputed);
        require!(fresh, AlreadyDisputed);
        require!(self.status.is(JobStatus::Settled), WrongJobStatus);
        require!(now <= self.dispute_deadline(), DisputeWindowClosed);
        require!(client_hash != &self.output_hash, HashesEqual);
        self.status.set(JobStatus::Disputed);
        self.client_hash = *client_hash;
        self.disputed_by_wallet.set(is_wallet);
        self.disputed_after_seconds.set(self.seconds_since_lock(now)?);
        Ok(self.arbitration_deadline())
    }

    /// Whether the wallet may still put its own hash in place of its controller's.
    pub fn is_amendable(&self) -> bool {
        self.status.is(JobStatus::Disputed) && !self.disputed_by_wallet()
    }

    /// disputed → disputed, once. Without it a controller could use up the wallet's only dispute
    /// with a hash that no evidence can support.
    pub fn amend_dispute(&mut self, client_hash: &[u8; 32], now: i64) -> Result {
        require!(self.is_amendable(), AlreadyDisputed);
        require!(now <= self.arbitration_deadline(), ArbitrationClosed);
        require!(client_hash != &self.output_hash, HashesEqual);
        self.client_hash = *client_hash;
        self.disputed_by_wallet.set(true);
        Ok(())
    }

    /// Refuses a verdict at the wrong time, before any evidence is looked at. None is given while
    /// the job could still be disputed: its client may not have read the answer yet.
    pub fn require_resolvable(&self, now: i64) -> Result {
        require!(self.status.is(JobStatus::Disputed), WrongJobStatus);
        require!(now > self.dispute_deadline(), VerdictTooEarly);
        require!(now <= self.arbitration_deadline(), ArbitrationClosed);
        Ok(())
    }

    /// disputed → settled (rejected) or refunded (upheld). Returns the credits to repay.
    pub fn resolve(
        &mut self,
        outcome: DisputeOutcome,
        slashed_tokens: u64,
        now: i64,
    ) -> Result<u64> {
        self.require_resolvable(now)?;
        let credits = self.repaid_credits(outcome, slashed_tokens)?;
        self.status.set(if outcome == DisputeOutcome::Rejected {
            JobStatus::Settled
        } else {
            JobStatus::Refunded
        });
        self.charged_credits.subtract(credits)?;
        self.outcome.set(outcome);
        self.resolved_after_seconds.set(self.seconds_since_lock(now)?);
        Ok(credits)
    }

    /// disputed → settled
    pub fn expire(&mut self, now: i64) -> Result {
        require!(self.status.is(JobStatus::Disputed), WrongJobStatus);
        require!(now > self.arbitration_deadline(), ArbitrationOpen);
        self.status.set(JobStatus::Settled);
        self.outcome.set(DisputeOutcome::Expired);
        self.resolved_after_seconds.set(self.seconds_since_lock(now)?);
        Ok(())
    }
}
