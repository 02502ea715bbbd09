//! Text that a reader can always store and show: printable ASCII of a bounded length.

use crate::error::{Result, require};

/// The longest text of any argument, account or event, in bytes.
pub const TEXT_BYTES_MAX: usize = 128;

/// Text as it arrives in arguments and leaves in events.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Text<'a>(&'a [u8]);

impl<'a> Text<'a> {
    /// Refuses text over `TEXT_BYTES_MAX` or with anything but the characters from space to tilde.
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        require!(bytes.len() <= TEXT_BYTES_MAX, InvalidText);
        require!(bytes.iter().all(|byte| matches!(byte, b' '..=b'~')), InvalidText);
        Ok(Self(bytes))
    }

    /// Text that an account holds, checked when it was stored.
    pub fn stored(bytes: &'a [u8], length: u8) -> Self {
        Self(&bytes[..usize::from(length)])
    }

    /// Copies the text into an account, padded with zeros, and returns its length.
    pub fn store<const N: usize>(&self, target: &mut [u8; N]) -> Result<u8> {
        require!(!self.0.is_empty() && self.0.len() <= N, InvalidText);
        *target = [0; N];
        target[..self.0.len()].copy_from_slice(self.0);
        Ok(self.0.len() as u8)
    }

    pub fn bytes(&self) -> &'a [u8] {
        self.0
    }
}
