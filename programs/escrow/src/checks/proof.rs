//! What a worker signs about one attempt at one job.

use pinocchio::{AccountView, Address};

use crate::{
    ID,
    checks::ed25519::{Message, Verification},
    error::{Result, require},
    limits::PROOF_PREFIX,
    state::job::Output,
    wire::little_endian::U32,
};

/// The signed message, 149 bytes.
#[repr(C)]
pub struct Proof {
    prefix: [u8; 12],
    program: Address,
    job: Address,
    worker: Address,
    attempt: u8,
    output_hash: [u8; 32],
    prompt_tokens: U32,
    completion_tokens: U32,
}

// SAFETY: every field is an array of bytes or transparent over one.
unsafe impl Message for Proof {}

impl Proof {
    pub fn output(&self) -> Output<'_> {
        Output {
            hash: &self.output_hash,
            prompt_tokens: self.prompt_tokens.get(),
            completion_tokens: self.completion_tokens.get(),
        }
    }
}

/// What a proof has to be about.
pub struct Attempt<'a> {
    pub job: &'a Address,
    pub worker: &'a Address,
    pub attempt: u8,
}

impl Attempt<'_> {
    /// Refuses unless the instruction at `index` of this transaction verified a proof of this
    /// attempt and output by `key`.
    pub fn require_proven(
        &self,
        instructions_sysvar: &AccountView,
        index: u16,
        key: &Address,
        output: &Output,
    ) -> Result {
        let verification = Verification::<Proof>::at(instructions_sysvar, usize::from(index))?;
        require!(&verification.key == key, ProofWrongKey);
        let proof = &verification.message;
        require!(self.is_subject_of(proof) && &proof.output() == output, ProofWrongMessage);
        Ok(())
    }

    /// Whether the proof is about this attempt, whatever its output.
    pub fn is_subject_of(&self, proof: &Proof) -> bool {
        &proof.prefix == PROOF_PREFIX
            && proof.program == ID
            && &proof.job == self.job
            && &proof.worker == self.worker
            && proof.attempt == self.attempt
    }
}
