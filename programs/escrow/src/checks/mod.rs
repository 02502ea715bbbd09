//! What is checked before anything is changed: roles, signers, proofs, token accounts, the loader.

pub mod controller;
pub mod evidence;
pub mod loader;
pub mod message;
pub mod proof;
pub mod roles;
pub mod token;

pub(crate) use self::roles::{accounts, require_address};
