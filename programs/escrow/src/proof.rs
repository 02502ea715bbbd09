//! A worker's proof: an ed25519 signature that the precompile has verified in this transaction.
//!
//! The runtime runs precompiles before any instruction and fails the transaction on a bad
//! signature. What is left to check is that the verified key and message are the right ones, which
//! is safe only if the precompile read them from its own data: hence one exact form.

use pinocchio::{AccountView, Address, sysvars::instructions::Instructions};

use crate::{
    ID,
    error::{EscrowError, Result, require},
};

const ED25519_PROGRAM: Address =
    Address::from_str_const("Ed25519SigVerify111111111111111111111111111");

const PREFIX: &[u8; 12] = b"svc-proof-v1";
const MESSAGE_BYTES: usize = PREFIX.len() + 3 * 32 + 1 + 32 + 4 + 4;

/// One signature, a padding byte, then where signature, key and message lie. The instruction index
/// 0xFFFF stands for the precompile's own instruction.
#[rustfmt::skip]
const HEADER: [u8; 16] = [
    1, 0,
    48, 0, 0xFF, 0xFF,
    16, 0, 0xFF, 0xFF,
    112, 0, MESSAGE_BYTES as u8, 0, 0xFF, 0xFF,
];
const KEY_AT: usize = 16;
const MESSAGE_AT: usize = 112;

/// What the worker says about one attempt at one job.
pub struct Proof<'a> {
    pub job: &'a Address,
    pub worker: &'a Address,
    pub attempt: u8,
    pub output_hash: &'a [u8; 32],
    pub prompt_tokens: u32,
    pub completion_tokens: u32,
}

impl Proof<'_> {
    /// Refuses unless the instruction at `index` of this transaction verified the proof by `key`.
    pub fn require_verified(
        &self,
        instructions_sysvar: &AccountView,
        index: u16,
        key: &Address,
    ) -> Result {
        // SAFETY: the account's address was checked by its role; the runtime alone writes it.
        let instructions =
            unsafe { Instructions::new_unchecked(instructions_sysvar.borrow_unchecked()) };
        let verification = instructions
            .load_instruction_at(usize::from(index))
            .map_err(|_| EscrowError::ProofMissing)?;
        require!(verification.get_program_id() == &ED25519_PROGRAM, ProofMissing);

        let data = verification.get_instruction_data();
        require!(data.len() == MESSAGE_AT + MESSAGE_BYTES, ProofMalformed);
        require!(data[..KEY_AT] == HEADER, ProofMalformed);
        require!(&data[KEY_AT..KEY_AT + 32] == key.as_array(), ProofWrongKey);
        require!(data[MESSAGE_AT..] == self.message(), ProofWrongMessage);
        Ok(())
    }

    fn message(&self) -> [u8; MESSAGE_BYTES] {
        let mut message = [0; MESSAGE_BYTES];
        let mut at = 0;
        for part in [
            PREFIX.as_slice(),
            ID.as_array(),
            self.job.as_array(),
            self.worker.as_array(),
            &[self.attempt],
            self.output_hash,
            &self.prompt_tokens.to_le_bytes(),
            &self.completion_tokens.to_le_bytes(),
        ] {
            message[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        }
        message
    }
}
