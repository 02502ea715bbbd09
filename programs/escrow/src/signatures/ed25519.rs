//! The verdict on one signature: RFC 8032, as strict as the runtime's own precompile.

use pinocchio::Address;
#[cfg(not(test))]
use pinocchio::syscalls;

use super::{scalar::Scalar, sha512::sha512};
#[cfg(test)]
use crate::tests::runtime as syscalls;

/// The runtime's number of the curve.
const EDWARDS: u64 = 0;
/// The bit of a point's last byte that holds the sign of x.
const SIGN: u8 = 0x80;

/// The generator of the group that keys and signatures live in.
const BASE: [u8; 32] = {
    let mut y = [0x66; 32];
    y[0] = 0x58;
    y
};

/// 2^255 - 19 in parts of 64 bits, the lowest first.
const P: [u64; 4] = [u64::MAX - 18, u64::MAX, u64::MAX, u64::MAX >> 1];

/// The y of the eight points whose order divides 8. A key among them would have signatures of every
/// message. The two points with x = 0 are here too, so no zero can have a sign.
const SMALL_ORDER: [[u64; 4]; 5] = [
    [0, 0, 0, 0],
    [1, 0, 0, 0],
    [P[0] - 1, P[1], P[2], P[3]],
    [0xb027_b2c2_8f95_e826, 0xf098_eff2_89f4_c345, 0x3933_c6d3_05ac_dfd5, 0x05fc_536d_8802_38b1],
    [0x4fd8_4d3d_706a_17c7, 0x0f67_100d_760b_3cba, 0xc6cc_392c_fa53_202a, 0x7a03_ac92_77fd_c74e],
];

/// Whether `signature` is the key's signature of `message`.
///
/// Not inlined: its hash needs a stack frame of its own.
#[inline(never)]
pub fn is_signed(message: &[u8; 32], key: &Address, signature: &[u8; 64]) -> bool {
    let [r, s] = halves(signature);
    let Some(s) = Scalar::canonical(s) else {
        return false;
    };
    if !is_usable(r) || !is_usable(key.as_array()) {
        return false;
    }
    let mut hashed = [0; 96];
    hashed[..32].copy_from_slice(r);
    hashed[32..64].copy_from_slice(key.as_array());
    hashed[64..].copy_from_slice(message);
    let k = Scalar::reduce(&sha512(&hashed));

    // R = S·B - k·A, compared as bytes: whatever R does not have this very encoding is refused. No
    // cofactor is multiplied in, so a part of small order in R or A does not vanish.
    let scalars = [s, k];
    let points = [BASE, negative(key.as_array())];
    let mut sum = [0; 32];
    // SAFETY: two scalars and two points are given, and 32 bytes are written.
    let refused = unsafe {
        syscalls::sol_curve_multiscalar_mul(
            EDWARDS,
            scalars.as_ptr().cast(),
            points.as_ptr().cast(),
            2,
            sum.as_mut_ptr(),
        )
    };
    refused == 0 && &sum == r
}

fn halves(signature: &[u8; 64]) -> [&[u8; 32]; 2] {
    let (halves, _) = signature.as_chunks();
    [&halves[0], &halves[1]]
}

/// Whether the encoding is the one that its point has, should there be one, and the point is not of
/// small order.
fn is_usable(point: &[u8; 32]) -> bool {
    // SAFETY: 32 bytes are there, and any are valid.
    let mut y = unsafe { point.as_ptr().cast::<[u64; 4]>().read_unaligned() }.map(u64::from_le);
    y[3] &= u64::MAX >> 1;
    let is_canonical = y[3] < P[3] || y[2] < P[2] || y[1] < P[1] || y[0] < P[0];
    let is_y = |other: &[u64; 4]| {
        y[0] == other[0] && y[1] == other[1] && y[2] == other[2] && y[3] == other[3]
    };
    is_canonical && !SMALL_ORDER.iter().any(is_y)
}

/// The encoding of the point's negative: x has the other sign.
fn negative(point: &[u8; 32]) -> [u8; 32] {
    let mut negative = *point;
    negative[31] ^= SIGN;
    negative
}
