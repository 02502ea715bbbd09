//! Messages of one exact form, whose sha256 is signed. So a signature of any message costs the same.

use pinocchio::Address;

use crate::{
    error::{Result, require},
    signatures::ed25519::is_signed,
    wire::sysvars::sha256,
};

/// A message of one exact form.
///
/// # Safety
/// The type is `repr(C)`, aligned to one byte and free of padding.
pub unsafe trait Message: Sized {
    /// The message's bytes.
    fn bytes(&self) -> &[u8] {
        // SAFETY: a message has no padding, so that all its bytes are there.
        unsafe { core::slice::from_raw_parts((&raw const *self).cast(), size_of::<Self>()) }
    }

    /// Refuses a signature that is not the key's.
    fn require_signed(&self, key: &Address, signature: &[u8; 64]) -> Result {
        require!(is_signed(&sha256(&[self.bytes()]), key, signature), SignatureInvalid);
        Ok(())
    }
}
