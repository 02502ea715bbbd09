//! What a verdict for the client rests on: signed messages that contradict each other. The arbiter
//! chooses when to judge, not what is true.
//!
//! The messages are verified by the ed25519 program, by the instructions right before this one.

use pinocchio::{AccountView, Address};

use crate::{
    ID,
    checks::{
        controller::signs_for,
        ed25519::{Message, Verification},
        proof::{Attempt, Proof},
    },
    error::{Result, require},
    limits::RECEIPT_PREFIX,
    state::{Job, Worker},
    wire::sysvars::sha256,
};

/// What the settling key signs for the client, 111 bytes.
#[repr(C)]
struct Receipt {
    prefix: [u8; 15],
    program: Address,
    job: Address,
    output_hash: [u8; 32],
}

// SAFETY: every field is an array of bytes or transparent over one.
unsafe impl Message for Receipt {}

/// The job that the evidence is about.
pub struct Evidence<'a> {
    pub instructions_sysvar: &'a AccountView,
    pub job_address: &'a Address,
    pub job: &'a Job,
}

impl Evidence<'_> {
    /// Two proofs of the recorded attempt by one key of the worker: first the recorded one, then
    /// one of another output. Returns the sha256 of both messages.
    pub fn against_worker(&self, worker: &Worker) -> Result<[u8; 32]> {
        let recorded = Verification::<Proof>::before(self.instructions_sysvar, 2)?;
        let other = Verification::<Proof>::before(self.instructions_sysvar, 1)?;
        require!(recorded.key == other.key, ProofWrongKey);
        require!(worker.proves_with(&recorded.key, self.job.proven_at()), ProofWrongKey);

        let attempt = Attempt {
            job: self.job_address,
            worker: self.job.worker(),
            attempt: self.job.attempt(),
        };
        let output = self.job.output();
        let contradict = attempt.is_subject_of(&recorded.message)
            && attempt.is_subject_of(&other.message)
            && recorded.message.output() == output
            && other.message.output() != output;
        require!(contradict, ProofWrongMessage);
        Ok(sha256(&[recorded.message_bytes(), other.message_bytes()]))
    }

    /// A delivery receipt of this job with another hash than the proven one. Its key signed the
    /// settlement, or signs for the controller now. Returns the message's sha256.
    pub fn against_gateway(&self, gateway: Option<&AccountView>) -> Result<[u8; 32]> {
        let delivered = Verification::<Receipt>::before(self.instructions_sysvar, 1)?;
        require!(
            &delivered.key == self.job.settled_by()
                || signs_for(&delivered.key, self.job.controller(), gateway)?,
            ProofWrongKey
        );

        let receipt = &delivered.message;
        let contradicts = &receipt.prefix == RECEIPT_PREFIX
            && receipt.program == ID
            && &receipt.job == self.job_address
            && &receipt.output_hash != self.job.output_hash();
        require!(contradicts, ProofWrongMessage);
        Ok(sha256(&[delivered.message_bytes()]))
    }
}
