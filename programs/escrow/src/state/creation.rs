//! Creates the program's accounts at derived addresses, whatever lamports were sent there before.

use pinocchio::{
    AccountView, Address,
    cpi::{Seed, Signer},
};
use pinocchio_system::instructions::{Allocate, Assign, CreateAccount, Transfer};

use crate::{
    ID,
    error::{Result, require},
    seeds::BUMP,
    wire::{
        layout::{self, Layout},
        sysvars::rent_lamports,
    },
};

/// An account that does not exist yet, and who pays for it.
pub struct Creation<'a> {
    pub payer: &'a AccountView,
    pub account: &'a AccountView,
}

/// The size of a new account, and the program that owns it.
pub struct Space<'a> {
    pub bytes: usize,
    pub owner: &'a Address,
}

impl<'a> Creation<'a> {
    /// Creates an account of the program at the canonical address of two seeds.
    pub fn keyed<T: Layout>(&self, seed: &[u8], key: &[u8; 32]) -> Result<&'a mut T> {
        let (address, bump) = Address::find_program_address(&[seed, key], &ID);
        require!(self.account.address() == &address, WrongAddress);
        let bump_seed = [bump];
        let seeds = [Seed::from(seed), Seed::from(key), Seed::from(&bump_seed)];
        self.allocate(&Space { bytes: size_of::<T>(), owner: &ID }, &seeds)?;
        layout::initialize(self.account, bump)
    }

    /// Creates an account of the program whose address has the bump 255; the bump is the last
    /// seed.
    pub fn fixed<T: Layout>(&self, seeds: &[Seed]) -> Result<&'a mut T> {
        self.allocate(&Space { bytes: size_of::<T>(), owner: &ID }, seeds)?;
        layout::initialize(self.account, BUMP)
    }

    /// Creates an account of zero bytes; the bump is the last seed.
    #[inline(never)]
    pub fn allocate(&self, space: &Space, seeds: &[Seed]) -> Result {
        require!(self.account.owned_by(&pinocchio_system::ID), AlreadyInitialized);
        let signers = [Signer::from(seeds)];
        let rent = rent_lamports(space.bytes)?;
        let present = self.account.lamports();
        if present == 0 {
            CreateAccount {
                from: self.payer,
                to: self.account,
                lamports: rent,
                space: space.bytes as u64,
                owner: space.owner,
            }
            .invoke_signed(&signers)?;
            return Ok(());
        }

        // CreateAccount refuses an address that holds lamports, and anybody can send some there.
        if present < rent {
            Transfer { from: self.payer, to: self.account, lamports: rent - present }.invoke()?;
        }
        Allocate { account: self.account, space: space.bytes as u64 }.invoke_signed(&signers)?;
        Assign { account: self.account, owner: space.owner }.invoke_signed(&signers)?;
        Ok(())
    }
}
