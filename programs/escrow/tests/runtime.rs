//! The runtime's calls, as a test has set their answers.

use core::cell::Cell;

use curve25519_dalek::{edwards::CompressedEdwardsY, scalar::Scalar};
use sha2_const_stable::Sha256;

#[derive(Clone, Copy)]
pub struct Rent {
    pub lamports_per_byte_year: u64,
    pub exemption_threshold: f64,
}

thread_local! {
    pub static NOW: Cell<i64> = const { Cell::new(0) };
    pub static RENT: Cell<Rent> =
        const { Cell::new(Rent { lamports_per_byte_year: 3_480, exemption_threshold: 2.0 }) };
}

/// # Safety
/// There is room for a Clock.
pub unsafe fn sol_get_clock_sysvar(clock: *mut u8) -> u64 {
    let fields = [0, 0, 0, 0, NOW.get()];
    // SAFETY: the caller's promise.
    unsafe { clock.cast::<[i64; 5]>().write_unaligned(fields) };
    0
}

/// # Safety
/// There is room for a Rent.
pub unsafe fn sol_get_rent_sysvar(rent: *mut u8) -> u64 {
    let Rent { lamports_per_byte_year, exemption_threshold } = RENT.get();
    // SAFETY: the caller's promise.
    unsafe {
        rent.cast::<[u64; 2]>()
            .write_unaligned([lamports_per_byte_year, exemption_threshold.to_bits()]);
        rent.add(16).write(50);
    }
    0
}

/// # Safety
/// `parts` are so many slices, and there is room for a hash.
pub unsafe fn sol_sha256(parts: *const u8, count: u64, hash: *mut u8) -> u64 {
    // SAFETY: the caller's promise.
    let parts = unsafe { core::slice::from_raw_parts(parts.cast::<&[u8]>(), count as usize) };
    let digest = parts.iter().fold(Sha256::new(), |sum, part| sum.update(part)).finalize();
    // SAFETY: the caller's promise.
    unsafe { hash.cast::<[u8; 32]>().write_unaligned(digest) };
    0
}

/// # Safety
/// `scalars` and `points` are so many, and there is room for a point.
pub unsafe fn sol_curve_multiscalar_mul(
    curve: u64,
    scalars: *const u8,
    points: *const u8,
    count: u64,
    sum: *mut u8,
) -> u64 {
    assert_eq!(curve, 0, "the runtime's number of the Edwards curve");
    // SAFETY: the caller's promise.
    let [scalars, points] = [scalars, points]
        .map(|bytes| unsafe { core::slice::from_raw_parts(bytes.cast(), count as usize) });
    let products = scalars.iter().zip(points).map(|(scalar, point): (&[u8; 32], &[u8; 32])| {
        let scalar: Option<Scalar> = Scalar::from_canonical_bytes(*scalar).into();
        Some(scalar? * CompressedEdwardsY(*point).decompress()?)
    });
    let Some(added) = products.reduce(|all, next| Some(all? + next?)).flatten() else {
        return 1;
    };
    // SAFETY: the caller's promise.
    unsafe { sum.cast::<[u8; 32]>().write_unaligned(added.compress().0) };
    0
}
