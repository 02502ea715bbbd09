//! What a verdict for the client rests on: signed messages that contradict each other. The arbiter
//! chooses when to judge, not what is true.

use pinocchio::{AccountView, Address};

use crate::{
    ID,
    checks::{controller::signs_for, message::Message, proof::{Attempt, Proof}},
    error::{Result, require},
    limits::RECEIPT_PREFIX,
    signatures::ed25519::is_signed,
    state::{Job, Worker, job::Output},
    wire::sysvars::sha256,
};

/// What the settling key signs for the client, 143 bytes. What is signed is its sha256.
#[repr(C)]
struct Receipt {
    prefix: [u8; 15],
    program: Address,
    job: Address,
    output_hash: [u8; 32],
    statement: [u8; 32],
}

// SAFETY: every field is an array of bytes or transparent over one.
unsafe impl Message for Receipt {}

/// What a proof says, with its signature.
pub struct Signed<'a> {
    pub output: Output<'a>,
    pub statement: &'a [u8; 32],
    pub signature: &'a [u8; 64],
}

/// What a receipt says, with its signature.
pub struct Delivered<'a> {
    pub output_hash: &'a [u8; 32],
    pub statement: &'a [u8; 32],
    pub signature: &'a [u8; 64],
}

/// The job that the evidence is about, and the key that signed it.
pub struct Evidence<'a> {
    pub job_address: &'a Address,
    pub job: &'a Job,
    pub key: &'a Address,
}

impl Evidence<'_> {
    /// Two proofs of the recorded attempt by one key of the worker, which differ: the first is of
    /// the recorded output. Returns the sha256 of both messages.
    pub fn against_worker(
        &self,
        worker: &Worker,
        recorded: &Signed,
        other: &Signed,
    ) -> Result<[u8; 32]> {
        let mut keys = worker.proof_keys_at(self.job.proven_at());
        require!(keys.any(|key| key == self.key), ProofWrongKey);
        let contradict =
            other.output != recorded.output || other.statement != recorded.statement;
        require!(contradict, ProofWrongMessage);

        let messages = [self.proof(recorded), self.proof(other)];
        messages[0].require_signed(self.key, recorded.signature)?;
        messages[1].require_signed(self.key, other.signature)?;
        Ok(sha256(&[messages[0].bytes(), messages[1].bytes()]))
    }

    /// A delivery receipt of this job with another hash than the proven one, or with another
    /// statement than the recorded proof. Its key signed the settlement, or signs for the controller
    /// now. Returns the sha256 of the messages: the receipt, and the proof where it is needed.
    pub fn against_gateway(
        &self,
        gateway: Option<&AccountView>,
        worker: &Worker,
        recorded: &Signed,
        delivered: &Delivered,
    ) -> Result<[u8; 32]> {
        require!(
            self.key == self.job.settled_by()
                || signs_for(self.key, self.job.controller(), gateway)?,
            ProofWrongKey
        );
        let receipt = Receipt {
            prefix: *RECEIPT_PREFIX,
            program: ID,
            job: *self.job_address,
            output_hash: *delivered.output_hash,
            statement: *delivered.statement,
        };
        receipt.require_signed(self.key, delivered.signature)?;
        if delivered.output_hash != self.job.output_hash() {
            return Ok(sha256(&[receipt.bytes()]));
        }
        // No account keeps the statement: only the worker's signature shows which one was proven.
        require!(delivered.statement != recorded.statement, ProofWrongMessage);
        let proof = self.proof(recorded);
        let hash = sha256(&[proof.bytes()]);
        let mut keys = worker.proof_keys_at(self.job.proven_at());
        require!(keys.any(|key| is_signed(&hash, key, recorded.signature)), SignatureInvalid);
        Ok(sha256(&[receipt.bytes(), proof.bytes()]))
    }

    fn proof(&self, signed: &Signed) -> Proof {
        Attempt { job: self.job_address, worker: self.job.worker(), attempt: self.job.attempt() }
            .proof(&signed.output, signed.statement)
    }
}
