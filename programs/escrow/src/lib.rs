//! The escrow program: holds prepaid credits and the authoritative state of every inference job.
//!
//! Written on pinocchio, without the standard library and without copies, but with Anchor's
//! conventions on the wire; programs/client/idl.json is generated from this source.

// The tests of what is pure run on the developer's machine, with its standard library.
#![cfg_attr(not(test), no_std)]

use core::mem::MaybeUninit;

use pinocchio::{AccountView, Address, MAX_TX_ACCOUNTS, SUCCESS, entrypoint::deserialize};
// Provides memcpy and its kin, which the compiler emits and the virtual machine lacks.
#[cfg(not(test))]
use solana_compiler_builtins as _;

mod checks;
mod error;
mod events;
mod limits;
mod security;
mod seeds;
mod settlement;
mod signatures;
mod state;
#[cfg(test)]
#[path = "../tests/mod.rs"]
mod tests;
mod wire;

/// The program's address. Chosen, not random: see seeds.rs. A build for a cluster of one's own names
/// another one (programs/tools/build.ts), so that no signature of one cluster counts on another.
pub const ID: Address = Address::from_str_const(match option_env!("ESCROW_PROGRAM_ID") {
    Some(id) => id,
    None => "8XLFurbAHp1Zg8Tyg23WoYhyy3XaYf6N17EAv4mKc2ok",
});

/// Where the runtime enters. In place of pinocchio's macro, because a refusal of this program is
/// its number alone.
///
/// # Safety
/// The runtime's promise: `input` is a serialized instruction.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn entrypoint(input: *mut u8) -> u64 {
    // SAFETY: as above.
    if unsafe { wire::event_writer::is_own_call(input) } {
        return SUCCESS;
    }
    let mut accounts = [const { MaybeUninit::uninit() }; MAX_TX_ACCOUNTS];
    // SAFETY: as above; `deserialize` writes the accounts that it counts.
    let (accounts, data) = unsafe {
        let (_, count, data) = deserialize::<MAX_TX_ACCOUNTS>(input, &mut accounts);
        (core::slice::from_raw_parts(accounts.as_ptr().cast(), count), data)
    };
    match process(accounts, data) {
        Ok(()) => SUCCESS,
        Err(error) => error as u64,
    }
}
#[cfg(not(test))]
pinocchio::no_allocator!();
#[cfg(not(test))]
pinocchio::nostd_panic_handler!();

/// The table of instructions: each is a file, and its name is its discriminator.
macro_rules! instructions {
    ($($name:ident,)+) => {
        mod instructions {
            $(pub mod $name;)+
        }

        #[cfg(test)]
        const INSTRUCTIONS: &[&str] = &[$(stringify!($name)),+];

        /// Constants of their own, so that the compiler can turn the dispatch into a search.
        #[allow(non_upper_case_globals, reason = "named like the instructions")]
        mod discriminators {
            $(pub const $name: u64 =
                crate::wire::discriminator::discriminator("global", stringify!($name));)+
        }

        /// Each instruction's handler, with the checks that come before it: its arguments first.
        mod handlers {
            use super::{AccountView, checks::roles::Load, error::Result, wire::arguments::Decode};

            $(#[inline(never)]
            pub fn $name(accounts: &[AccountView], data: &[u8]) -> Result {
                let arguments = Decode::decode(data)?;
                super::instructions::$name::process(Load::load(accounts)?, arguments)
            })+
        }

        #[inline(never)]
        fn process(accounts: &[AccountView], data: &[u8]) -> error::Result {
            let Some((tag, data)) = data.split_first_chunk() else {
                return Err(error::EscrowError::InvalidInstructionData);
            };
            let tag = u64::from_le_bytes(*tag);
            match tag {
                // The program's own calls do not come this far.
                wire::event_writer::EVENT_TAG => Err(error::EscrowError::EventAuthorityRequired),
                $(discriminators::$name => handlers::$name(accounts, data),)+
                _ => Err(error::EscrowError::UnknownInstruction),
            }
        }
    };
}

instructions! {
    config_initialize,
    config_update,
    authority_propose,
    authority_accept,
    pause_set,
    treasury_withdraw,
    gateway_open,
    gateway_update,
    gateway_vouch,
    model_upsert,
    model_retire,
    credit_open,
    credit_buy,
    credit_withdraw,
    spender_set,
    limit_set,
    worker_register,
    worker_update,
    worker_host,
    worker_unhost,
    worker_suspend,
    worker_deregister,
    stake_deposit,
    stake_unlock,
    stake_withdraw,
    slash_burn,
    job_lock,
    job_acknowledge,
    job_prove,
    job_settle,
    job_complete,
    job_fail,
    job_refund,
    job_dispute,
    dispute_resolve,
    dispute_expire,
    job_close,
    claim_pay,
}
