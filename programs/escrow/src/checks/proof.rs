//! A worker's proof: an ed25519 signature that the precompile has verified in this transaction.
//!
//! The runtime runs precompiles before any instruction and fails the transaction on a bad
//! signature. What is left to check is that the verified key and message are the right ones, which
//! is safe only if the precompile read them from its own data: hence one exact form.

use core::mem::offset_of;

use pinocchio::{AccountView, Address, sysvars::instructions::Instructions};

use crate::{
    ID,
    error::{EscrowError, Result, require},
    limits::PROOF_PREFIX,
    state::job::Output,
    wire::little_endian::U32,
};

const ED25519_PROGRAM: Address =
    Address::from_str_const("Ed25519SigVerify111111111111111111111111111");

/// The precompile's instruction data, with one signature.
#[repr(C)]
struct Verification {
    header: [u8; 16],
    key: Address,
    signature: [u8; 64],
    message: Message,
}

/// What the worker signs.
#[repr(C)]
struct Message {
    prefix: [u8; 12],
    program: Address,
    job: Address,
    worker: Address,
    attempt: u8,
    output_hash: [u8; 32],
    prompt_tokens: U32,
    completion_tokens: U32,
}

/// Each offset fits the low byte that `HEADER` gives it.
const _: () = assert!(align_of::<Verification>() == 1 && size_of::<Verification>() == 261);
const _: () = assert!(offset_of!(Verification, message) <= 255 && size_of::<Message>() <= 255);

/// One signature, a padding byte, then where signature, key and message lie. The instruction index
/// 0xFFFF stands for the precompile's own instruction.
#[rustfmt::skip]
const HEADER: [u8; 16] = [
    1, 0,
    offset_of!(Verification, signature) as u8, 0, 0xFF, 0xFF,
    offset_of!(Verification, key) as u8, 0, 0xFF, 0xFF,
    offset_of!(Verification, message) as u8, 0, size_of::<Message>() as u8, 0, 0xFF, 0xFF,
];

/// What the worker says about one attempt at one job.
pub struct Proof<'a> {
    pub job: &'a Address,
    pub worker: &'a Address,
    pub attempt: u8,
    pub output: &'a Output<'a>,
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
        let instruction = instructions
            .load_instruction_at(usize::from(index))
            .map_err(|_| EscrowError::ProofMissing)?;
        require!(instruction.get_program_id() == &ED25519_PROGRAM, ProofMissing);

        let data = instruction.get_instruction_data();
        require!(data.len() == size_of::<Verification>(), ProofMalformed);
        // SAFETY: the data is as long as the struct, whose fields are bytes, at any alignment.
        let verification: &Verification = unsafe { &*data.as_ptr().cast() };
        require!(verification.header == HEADER, ProofMalformed);
        require!(&verification.key == key, ProofWrongKey);
        require!(self.is_said_by(&verification.message), ProofWrongMessage);
        Ok(())
    }

    fn is_said_by(&self, message: &Message) -> bool {
        &message.prefix == PROOF_PREFIX
            && message.program == ID
            && &message.job == self.job
            && &message.worker == self.worker
            && message.attempt == self.attempt
            && &message.output_hash == self.output.hash
            && message.prompt_tokens.get() == self.output.prompt_tokens
            && message.completion_tokens.get() == self.output.completion_tokens
    }
}
