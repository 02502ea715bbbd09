//! Makes whatever calls its data lists, as anybody's program could: of any program, with any of
//! its own accounts under any flags, with any data. For tests; nothing deploys it.
//!
//! The data is a list of calls. Each begins with the place of the called program among the accounts.
//! Then come the bump of this program's own signer, or 0 to call without its signature, and the
//! number of accounts. The place and flags of each follow. Last come the length of the data in 16
//! bits, little-endian, and the data. testing/ledger/hostileCaller.ts writes it.

#![no_std]

use core::mem::MaybeUninit;

use pinocchio::{
    AccountView, Address, ProgramResult,
    cpi::{Seed, Signer, invoke_signed_with_bounds},
    error::ProgramError,
    instruction::{InstructionAccount, InstructionView},
};
// Provides memcpy and its kin, which the compiler emits and the virtual machine lacks.
use solana_compiler_builtins as _;

/// More accounts than any call of the tests names.
const ACCOUNTS_MAX: usize = 32;
/// The seed of the address this program can sign for.
const SIGNER: &[u8] = b"signer";
const IS_SIGNER: u8 = 1;
const IS_WRITABLE: u8 = 2;

pinocchio::program_entrypoint!(process, ACCOUNTS_MAX);
pinocchio::no_allocator!();
pinocchio::nostd_panic_handler!();

#[inline(never)]
fn process(_: &Address, accounts: &mut [AccountView], data: &[u8]) -> ProgramResult {
    let mut calls = Reader(data);
    while !calls.0.is_empty() {
        call(accounts, &mut calls)?;
    }
    Ok(())
}

#[inline(never)]
fn call(accounts: &[AccountView], calls: &mut Reader) -> ProgramResult {
    let program = account(accounts, calls.byte()?)?;
    let bump = [calls.byte()?];
    let count = usize::from(calls.byte()?);
    if count > ACCOUNTS_MAX {
        return Err(ProgramError::InvalidInstructionData);
    }
    let mut metas = [const { MaybeUninit::<InstructionAccount>::uninit() }; ACCOUNTS_MAX];
    let mut views = [const { MaybeUninit::<AccountView>::uninit() }; ACCOUNTS_MAX];
    for index in 0..count {
        let view = account(accounts, calls.byte()?)?;
        let flags = calls.byte()?;
        metas[index].write(InstructionAccount::new(
            view.address(),
            flags & IS_WRITABLE != 0,
            flags & IS_SIGNER != 0,
        ));
        views[index].write(*view);
    }
    let length = usize::from(u16::from_le_bytes([calls.byte()?, calls.byte()?]));
    let data = calls.take(length)?;

    // SAFETY: the loop above has written the first `count` of both.
    let (metas, views) = unsafe {
        (
            core::slice::from_raw_parts(metas.as_ptr().cast(), count),
            core::slice::from_raw_parts(views.as_ptr().cast::<AccountView>(), count),
        )
    };
    let instruction = InstructionView { program_id: program.address(), accounts: metas, data };
    let seeds = [Seed::from(SIGNER), Seed::from(&bump)];
    let signers = [Signer::from(&seeds)];
    let signers = if bump == [0] { &[] } else { signers.as_slice() };
    invoke_signed_with_bounds::<ACCOUNTS_MAX, _>(&instruction, views, signers)
}

fn account(accounts: &[AccountView], index: u8) -> Result<&AccountView, ProgramError> {
    accounts.get(usize::from(index)).ok_or(ProgramError::NotEnoughAccountKeys)
}

/// What remains of the list.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], ProgramError> {
        let (taken, rest) =
            self.0.split_at_checked(length).ok_or(ProgramError::InvalidInstructionData)?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, ProgramError> {
        Ok(self.take(1)?[0])
    }
}
