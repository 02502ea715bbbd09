//! The numbers of a job's status and of its outcome.

use crate::error::{EscrowError, Result};

/// Where a job is in its life. The numbers are those of `Job::status`.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// Credits locked; being routed to a worker
    Pending,
    /// A worker was given the job
    Processing,
    /// The worker's proof is recorded
    Settling,
    /// Charged and paid
    Settled,
    /// Given up by its controller; the lock is returned
    Failed,
    /// Timed out, or repaid after a dispute
    Refunded,
    /// Settled, and the client says the output was another one
    Disputed,
}

/// How a dispute ended. The numbers are those of `Job::outcome` and of verdicts.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Outcome {
    None,
    Rejected,
    UpheldGateway,
    UpheldWorker,
    Expired,
}

impl Outcome {
    /// A verdict is an outcome that the arbiter can choose.
    pub fn from_verdict(verdict: u8) -> Result<Self> {
        match verdict {
            1 => Ok(Self::Rejected),
            2 => Ok(Self::UpheldGateway),
            3 => Ok(Self::UpheldWorker),
            _ => Err(EscrowError::InvalidVerdict),
        }
    }
}
