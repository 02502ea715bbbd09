//! The tests of what is pure: `npm run program:test`. On the developer's machine the program calls
//! no runtime, so the few calls that it makes are answered by `runtime`.

mod accounts;
mod config;
mod credit_account;
mod instructions;
mod job;
mod lending;
mod pricing;
mod reader;
mod rent;
pub mod runtime;
mod signatures;
mod text;
mod worker;

use core::fmt;

use pinocchio::Address;

use crate::{error::EscrowError, wire::layout::Layout};

impl fmt::Debug for EscrowError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}", *self as u32)
    }
}

/// An account of the program as it is created: all zeros.
fn fresh<T: Layout>() -> T {
    // SAFETY: a layout is valid for any bytes.
    unsafe { core::mem::zeroed() }
}

/// One of 255 different addresses, none of them zero.
fn address(byte: u8) -> Address {
    Address::new_from_array([byte.max(1); 32])
}
