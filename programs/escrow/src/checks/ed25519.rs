//! Messages whose ed25519 signature the precompile has verified in this transaction.
//!
//! The runtime runs precompiles before any instruction and fails the transaction on a bad
//! signature. A handler still checks that the verified key and message are the right ones. They
//! must lie in the precompile's own data, so one exact form is accepted.

use core::mem::offset_of;

use pinocchio::{AccountView, Address, sysvars::instructions::Instructions};

use crate::error::{EscrowError, Result, require};

const ED25519_PROGRAM: Address =
    Address::from_str_const("Ed25519SigVerify111111111111111111111111111");

/// A message of one exact form.
///
/// # Safety
/// The type is `repr(C)`, aligned to one byte, free of padding and valid for any bytes.
pub unsafe trait Message {}

/// The precompile's instruction data, with one signature.
#[repr(C)]
pub struct Verification<M> {
    header: [u8; 16],
    pub key: Address,
    signature: [u8; 64],
    pub message: M,
}

impl<M: Message> Verification<M> {
    /// One signature, a padding byte, then where signature, key and message lie. The instruction
    /// index 0xFFFF stands for the precompile's own instruction.
    #[rustfmt::skip]
    const HEADER: [u8; 16] = {
        // Each offset fits the low byte that the header gives it.
        assert!(align_of::<Self>() == 1 && size_of::<M>() <= 255);
        assert!(size_of::<Self>() == 112 + size_of::<M>());
        [
            1, 0,
            offset_of!(Self, signature) as u8, 0, 0xFF, 0xFF,
            offset_of!(Self, key) as u8, 0, 0xFF, 0xFF,
            offset_of!(Self, message) as u8, 0, size_of::<M>() as u8, 0, 0xFF, 0xFF,
        ]
    };

    /// What the instruction at `index` of this transaction verified. The sysvar's address was
    /// checked by its role.
    pub fn at(instructions_sysvar: &AccountView, index: usize) -> Result<&Self> {
        // SAFETY: the runtime alone writes the account, and not while the program runs.
        let instructions =
            unsafe { Instructions::new_unchecked(instructions_sysvar.borrow_unchecked()) };
        let instruction =
            instructions.load_instruction_at(index).map_err(|_| EscrowError::ProofMissing)?;
        require!(instruction.get_program_id() == &ED25519_PROGRAM, ProofMissing);

        let data = instruction.get_instruction_data();
        require!(data.len() == size_of::<Self>(), ProofMalformed);
        // SAFETY: the data is as long as the struct, whose fields are bytes, at any alignment. It
        // lies in the account, not in the reader.
        let verification: &Self = unsafe { &*data.as_ptr().cast() };
        require!(verification.header == Self::HEADER, ProofMalformed);
        Ok(verification)
    }

    /// What the instruction verified that stands so many places before the transaction's current
    /// one. The current one is the outermost, so that a multisig can execute this program's.
    pub fn before(instructions_sysvar: &AccountView, places: usize) -> Result<&Self> {
        // SAFETY: as in `at`.
        let current = unsafe {
            Instructions::new_unchecked(instructions_sysvar.borrow_unchecked()).load_current_index()
        };
        let Some(index) = usize::from(current).checked_sub(places) else {
            return Err(EscrowError::ProofMissing);
        };
        Self::at(instructions_sysvar, index)
    }

    /// The message's bytes.
    pub fn message_bytes(&self) -> &[u8] {
        // SAFETY: a message has no padding, so that all its bytes are there.
        unsafe { core::slice::from_raw_parts((&raw const self.message).cast(), size_of::<M>()) }
    }
}
