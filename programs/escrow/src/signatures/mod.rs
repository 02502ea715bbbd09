//! Ed25519 signatures, verified by the program itself.
//!
//! The runtime's precompile costs as much as a transaction's signature. So the program computes the
//! same verdict by the runtime's curve operations.

pub mod ed25519;
mod scalar;
mod sha512;

#[cfg(test)]
pub use {scalar::Scalar, sha512::sha512};
