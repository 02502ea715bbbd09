//! Clock and Rent, through the syscalls that every ledger the program meets has. The newer
//! `sol_get_sysvar` is missing from solana-bankrun's runtime.

use core::mem::MaybeUninit;

#[cfg(not(test))]
use pinocchio::syscalls;

use crate::error::{OrOverflow, Result, require};
#[cfg(test)]
use crate::tests::runtime as syscalls;

/// What the runtime writes for the Clock.
#[repr(C)]
struct ClockSysvar {
    slot: u64,
    epoch_start_timestamp: i64,
    epoch: u64,
    leader_schedule_epoch: u64,
    unix_timestamp: i64,
}

/// The ledger's time.
pub struct Clock {
    pub slot: u64,
    /// Seconds since 1970
    pub unix_time: i64,
}

impl Clock {
    #[inline(always)]
    pub fn get() -> Self {
        let mut clock = MaybeUninit::<ClockSysvar>::uninit();
        // SAFETY: the syscall writes a whole Clock or ends the program.
        let clock = unsafe {
            #[allow(deprecated, reason = "see the module's description")]
            syscalls::sol_get_clock_sysvar(clock.as_mut_ptr().cast());
            clock.assume_init()
        };
        Self { slot: clock.slot, unix_time: clock.unix_timestamp }
    }
}

/// Seconds since 1970 as milliseconds. Cannot wrap within the bounds, some 35,000 years apart; a
/// multiplication that checks would need 128 bits, which the virtual machine lacks.
#[inline(always)]
pub fn milliseconds(unix_time: i64) -> i64 {
    unix_time.clamp(0, 1 << 40).wrapping_mul(1000)
}

/// The sha256 of all parts in their order, by the runtime.
pub fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = [0; 32];
    // SAFETY: as many slices are given as the length says, and 32 bytes are written.
    unsafe { syscalls::sol_sha256(parts.as_ptr().cast(), parts.len() as u64, hash.as_mut_ptr()) };
    hash
}

/// What the runtime writes for the Rent. The threshold is a floating-point number, kept as bits:
/// the virtual machine has no such arithmetic.
#[repr(C)]
struct RentSysvar {
    lamports_per_byte_year: u64,
    exemption_threshold_bits: u64,
    burn_percent: u8,
}

/// The largest account that a program can create.
const CREATED_BYTES_MAX: usize = 10_240;
/// What every account costs besides its data.
const ACCOUNT_OVERHEAD_BYTES: u64 = 128;
/// Far above any real rate; keeps the product below within 64 bits.
const RATE_MAX: u64 = u32::MAX as u64;

/// The lamports that keep an account of this size alive for ever: rate × threshold, because
/// ledgers differ in how they split the two.
pub fn rent_lamports(data_bytes: usize) -> Result<u64> {
    let mut rent = MaybeUninit::<RentSysvar>::uninit();
    // SAFETY: the syscall writes a whole Rent or ends the program.
    let rent = unsafe {
        #[allow(deprecated, reason = "see the module's description")]
        syscalls::sol_get_rent_sysvar(rent.as_mut_ptr().cast());
        rent.assume_init()
    };
    require!(rent.lamports_per_byte_year <= RATE_MAX, ArithmeticOverflow);
    require!(data_bytes <= CREATED_BYTES_MAX, ArithmeticOverflow);
    let yearly = (ACCOUNT_OVERHEAD_BYTES + data_bytes as u64) * rent.lamports_per_byte_year;
    scale(yearly, rent.exemption_threshold_bits)
}

/// `value` times a positive number given as the bits of a double, rounded down.
#[inline(always)]
fn scale(value: u64, bits: u64) -> Result<u64> {
    const FRACTION_BITS: u32 = 52;
    const EXPONENT_BIAS: i32 = 1023;
    /// More significant bits than a sensible threshold has; keeps the product within 64 bits.
    const SIGNIFICAND_MAX: u64 = 1 << 15;

    let fraction = bits & ((1 << FRACTION_BITS) - 1) | (1 << FRACTION_BITS);
    let significand = fraction >> fraction.trailing_zeros();
    let exponent = (bits >> FRACTION_BITS) as i32
        - EXPONENT_BIAS
        - (FRACTION_BITS as i32 - fraction.trailing_zeros() as i32);
    require!(significand < SIGNIFICAND_MAX && value < 1 << 48, ArithmeticOverflow);
    let product = value * significand;
    if exponent < 0 {
        Ok(product.checked_shr(exponent.unsigned_abs()).unwrap_or(0))
    } else {
        let shift = exponent.unsigned_abs();
        let shifted = product.checked_shl(shift).or_overflow()?;
        require!(shifted >> shift == product, ArithmeticOverflow);
        Ok(shifted)
    }
}
