//! Every seed of every program-derived address, mirrored by programs/client/generated/constants.ts.
//!
//! The program id was chosen so that each address derived from one fixed seed has the canonical
//! bump 255. All of them are therefore constants of the binary and are checked by comparison.

use pinocchio::Address;

use crate::ID;

/// Stands for "none" wherever an account holds an address.
pub const NONE: Address = Address::new_from_array([0; 32]);

/// The bump of every fixed address, and the only one accepted for a Job.
pub const BUMP: u8 = u8::MAX;

pub const CONFIG: &[u8] = b"config";
pub const TREASURY: &[u8] = b"treasury";
pub const VAULT_AUTHORITY: &[u8] = b"vault_authority";
pub const VAULT: &[u8] = b"vault";
pub const TREASURY_VAULT: &[u8] = b"treasury_vault";
pub const STAKE_VAULT: &[u8] = b"stake_vault";
/// Anchor's seed for the signer of self-calls that carry events.
pub const EVENT_AUTHORITY: &[u8] = b"__event_authority";

/// Followed by the operator's key.
pub const GATEWAY: &[u8] = b"gateway";
/// Followed by the wallet's key.
pub const CREDIT_ACCOUNT: &[u8] = b"credit";
/// Followed by the sha256 of the model's id.
pub const MODEL: &[u8] = b"model";
/// Followed by the worker's authority.
pub const WORKER: &[u8] = b"worker";
/// Followed by the credit account's address and the 16 bytes of the job's id.
pub const JOB: &[u8] = b"job";

pub const CONFIG_ADDRESS: Address = fixed(CONFIG);
pub const TREASURY_ADDRESS: Address = fixed(TREASURY);
pub const VAULT_AUTHORITY_ADDRESS: Address = fixed(VAULT_AUTHORITY);
pub const VAULT_ADDRESS: Address = fixed(VAULT);
pub const TREASURY_VAULT_ADDRESS: Address = fixed(TREASURY_VAULT);
pub const STAKE_VAULT_ADDRESS: Address = fixed(STAKE_VAULT);
pub const EVENT_AUTHORITY_ADDRESS: Address = fixed(EVENT_AUTHORITY);

const fn fixed(seed: &[u8]) -> Address {
    Address::derive_address_const(&[seed], Some(BUMP), &ID)
}
