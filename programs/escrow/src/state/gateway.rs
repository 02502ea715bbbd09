//! A spender with several hot keys, governed by one cold key.

use pinocchio::Address;

use crate::{
    error::{Result, require},
    limits::SIGNERS_PER_GATEWAY_MAX,
    seeds::NONE,
    wire::{
        layout::layout,
        little_endian::{Flag, U64},
    },
};

/// As the length of a list.
const SIGNERS_MAX: usize = SIGNERS_PER_GATEWAY_MAX as usize;

/// The hot signers that spend for every wallet which named this gateway
#[repr(C)]
pub struct Gateway {
    discriminator: [u8; 8],
    version: u8,
    bump: u8,
    /// Grows by one with every change
    sequence: U64,
    /// The cold key that changes signers and stops the gateway
    operator: Address,
    /// Refuses new locks and attempts; what runs can be settled or failed
    stopped: Flag,
    signers_len: u8,
    signers: [Address; 8],
    /// The authority vouches for it: the treasury repays its jobs in full
    vouched: Flag,
    reserved: [u8; 63],
}

layout! {
    Gateway {
        sequence: u64,
        numbers {}
        bytes {}
        references { operator: Address, }
    }
}

impl Gateway {
    pub fn open(&mut self, operator: &Address, signers: &[Address]) -> Result {
        self.operator = *operator;
        require!(!signers.is_empty(), ValueOutOfRange);
        self.set_signers(signers)
    }

    /// Replaces the signers. None at all revokes every hot key.
    pub fn set_signers(&mut self, signers: &[Address]) -> Result {
        require!(signers.len() <= SIGNERS_MAX, ValueOutOfRange);
        for (index, signer) in signers.iter().enumerate() {
            require!(signer != &NONE, ValueOutOfRange);
            require!(!signers[..index].contains(signer), DuplicateAccount);
        }
        self.signers = [NONE; SIGNERS_MAX];
        self.signers[..signers.len()].copy_from_slice(signers);
        self.signers_len = signers.len() as u8;
        Ok(())
    }

    pub fn set_stopped(&mut self, stopped: bool) {
        self.stopped.set(stopped);
    }

    pub fn stopped(&self) -> bool {
        self.stopped.get()
    }

    pub fn set_vouched(&mut self, vouched: bool) {
        self.vouched.set(vouched);
    }

    pub fn vouched(&self) -> bool {
        self.vouched.get()
    }

    pub fn signers(&self) -> &[Address] {
        &self.signers[..usize::from(self.signers_len).min(SIGNERS_MAX)]
    }

    fn is_consistent(&self) -> bool {
        usize::from(self.signers_len) <= SIGNERS_MAX
    }
}
