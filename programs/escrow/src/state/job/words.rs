//! What a job's status, its failure and its dispute can be.

use crate::{
    error::{EscrowError, Result},
    wire::byte::{Byte, enumeration},
};

enumeration! {
    /// Where a job is in its life
    pub enum JobStatus {
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
}

enumeration! {
    /// Why a controller gave a job up
    pub enum FailureReason {
        /// The job did not fail
        None,
        /// No worker answered in full
        WorkerError,
        /// The answer came without a proof
        ProofMissing,
        /// The proof is not the acknowledged worker's, or not of this answer
        ProofInvalid,
        /// The proof is of another text than the one delivered
        OutputMismatch,
        /// The answer has no text
        EmptyOutput,
        /// The client left before its answer began
        ClientGone,
        /// The lock landed after its request was given up
        LockLate,
        /// The messages do not fit the model's context window
        ContextLengthExceeded,
        /// Who answered the request lost the right to finish it
        LeaseLost,
        /// No process answers the request any more
        Orphaned,
    }
}

enumeration! {
    /// How a dispute ended
    pub enum DisputeOutcome {
        /// It has not, or there was none
        None,
        /// The charge stands
        Rejected,
        /// Repaid: the gateway's receipt names another text than the proof
        UpheldGateway,
        /// Repaid: the worker signed two proofs that differ, and loses stake
        UpheldWorker,
        /// The arbiter did not decide in time: the charge stands
        Expired,
    }
}

impl DisputeOutcome {
    /// A verdict is an outcome that the arbiter can choose.
    pub fn from_verdict(verdict: Byte<Self>) -> Result<Self> {
        match verdict.get() {
            Some(outcome @ (Self::Rejected | Self::UpheldGateway | Self::UpheldWorker)) => {
                Ok(outcome)
            }
            _ => Err(EscrowError::InvalidVerdict),
        }
    }
}
