//! What a verdict for the client rests on: signed messages that contradict each other. The arbiter
//! chooses when to judge, not what is true.

use pinocchio::{AccountView, Address};

use crate::{
    ID,
    checks::{controller::signs_for, message::Message, proof::Attempt},
    error::{Result, require},
    limits::RECEIPT_PREFIX,
    state::{Job, Worker, job::Output},
    wire::sysvars::sha256,
};

/// What the settling key signs for the client, 111 bytes. What is signed is its sha256.
#[repr(C)]
struct Receipt {
    prefix: [u8; 15],
    program: Address,
    job: Address,
    output_hash: [u8; 32],
}

// SAFETY: every field is an array of bytes or transparent over one.
unsafe impl Message for Receipt {}

/// What a proof says, with its signature.
pub struct Signed<'a> {
    pub output: Output<'a>,
    pub request_commitment: &'a [u8; 32],
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
        require!(worker.proves_with(self.key, self.job.proven_at()), ProofWrongKey);
        let contradict = other.output != recorded.output
            || other.request_commitment != recorded.request_commitment;
        require!(contradict, ProofWrongMessage);

        let attempt = Attempt {
            job: self.job_address,
            worker: self.job.worker(),
            attempt: self.job.attempt(),
        };
        let messages =
            [recorded, other].map(|proof| attempt.proof(&proof.output, proof.request_commitment));
        messages[0].require_signed(self.key, recorded.signature)?;
        messages[1].require_signed(self.key, other.signature)?;
        Ok(sha256(&[messages[0].bytes(), messages[1].bytes()]))
    }

    /// A delivery receipt of this job with another hash than the proven one. Its key signed the
    /// settlement, or signs for the controller now. Returns the message's sha256.
    pub fn against_gateway(
        &self,
        gateway: Option<&AccountView>,
        output_hash: &[u8; 32],
        signature: &[u8; 64],
    ) -> Result<[u8; 32]> {
        require!(
            self.key == self.job.settled_by()
                || signs_for(self.key, self.job.controller(), gateway)?,
            ProofWrongKey
        );
        require!(output_hash != self.job.output_hash(), ProofWrongMessage);

        let receipt = Receipt {
            prefix: *RECEIPT_PREFIX,
            program: ID,
            job: *self.job_address,
            output_hash: *output_hash,
        };
        receipt.require_signed(self.key, signature)?;
        Ok(sha256(&[receipt.bytes()]))
    }
}
