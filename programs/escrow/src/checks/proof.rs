//! What a worker signs about one attempt at one job.

use pinocchio::Address;

use crate::{
    ID, checks::message::Message, limits::PROOF_PREFIX, state::job::Output,
    wire::little_endian::U32,
};

/// The message, 181 bytes. What is signed is its sha256.
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
    statement: [u8; 32],
}

// SAFETY: every field is an array of bytes or transparent over one.
unsafe impl Message for Proof {}

/// What a proof is about.
pub struct Attempt<'a> {
    pub job: &'a Address,
    pub worker: &'a Address,
    pub attempt: u8,
}

impl Attempt<'_> {
    /// The proof of this attempt and output. `statement` binds question and answer: the program
    /// compares it, and never opens it.
    pub fn proof(&self, output: &Output, statement: &[u8; 32]) -> Proof {
        Proof {
            prefix: *PROOF_PREFIX,
            program: ID,
            job: *self.job,
            worker: *self.worker,
            attempt: self.attempt,
            output_hash: *output.hash,
            prompt_tokens: output.prompt_tokens.into(),
            completion_tokens: output.completion_tokens.into(),
            statement: *statement,
        }
    }
}
