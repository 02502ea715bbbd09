//! Numbers modulo the order of the base point, L = 2^252 + C.
//!
//! Sums and products here fit their types, as their bounds say. So they are written without checks:
//! of a product these would need 128 bits, which the virtual machine lacks.

/// The parts of 32 bits of a number below 2^512, the lowest first.
type Wide = [u32; 16];
/// Of a number below 2^256.
type Narrow = [u32; 8];

const C: [u32; 4] = [0x5cf5_d3ed, 0x5812_631a, 0xa2f7_9cd6, 0x14de_f9de];
const L: Narrow = [C[0], C[1], C[2], C[3], 0, 0, 0, 1 << 28];

/// A number below L, in little-endian bytes.
#[derive(Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Scalar([u8; 32]);

impl Scalar {
    /// Little-endian bytes, unless they are L or more: then the same signature would have a second
    /// form.
    pub fn canonical(bytes: &[u8; 32]) -> Option<Self> {
        subtract(&parts(bytes), &L).is_none().then_some(Self(*bytes))
    }

    /// The remainder of 512 little-endian bits.
    ///
    /// 2^252 is -C here. So what lies above 252 bits is multiplied by C and taken off. What of that
    /// lies above is put on again, and so on, until nothing does.
    pub fn reduce(bytes: &[u8; 64]) -> Self {
        let first: Wide = parts(bytes);
        let second = high_times_c::<9>(&first);
        let third = high_times_c::<5>(&second);
        let fourth = high_times_c::<1>(&third);

        // What is taken off is below 2L, which is put on. So the number is below 4L.
        let mut number: Narrow = [0; 8];
        let mut carry = 0_i64;
        for at in 0..8 {
            let mask = if at == 7 { LOW_BITS } else { u32::MAX };
            carry = carry
                .wrapping_add(i64::from(first[at] & mask))
                .wrapping_sub(i64::from(second[at] & mask))
                .wrapping_add(i64::from(third[at] & mask))
                .wrapping_sub(i64::from(fourth[at] & mask))
                .wrapping_add(i64::from(L[at]) << 1);
            number[at] = carry as u32;
            carry >>= 32;
        }

        // Once more, for the few bits above. Then it is below L, or up to 4C below zero.
        let above = i64::from(number[7] >> 28);
        number[7] &= LOW_BITS;
        carry = 0;
        for at in 0..8 {
            let taken = if at < 4 { above.wrapping_mul(i64::from(C[at])) } else { 0 };
            carry = carry.wrapping_add(i64::from(number[at])).wrapping_sub(taken);
            number[at] = carry as u32;
            carry >>= 32;
        }
        if carry < 0 {
            carry = 0;
            for at in 0..8 {
                carry = carry.wrapping_add(i64::from(number[at])).wrapping_add(i64::from(L[at]));
                number[at] = carry as u32;
                carry >>= 32;
            }
        }
        // SAFETY: both are 32 bytes, of which any are valid.
        Self(unsafe { core::mem::transmute::<Narrow, [u8; 32]>(number.map(u32::to_le)) })
    }
}

/// Of a number's last part, what belongs to its lowest 252 bits.
const LOW_BITS: u32 = (1 << 28) - 1;

/// The parts of little-endian bytes.
#[inline(always)]
fn parts<const BYTES: usize, const PARTS: usize>(bytes: &[u8; BYTES]) -> [u32; PARTS] {
    const { assert!(BYTES == 4 * PARTS) }
    // SAFETY: as many bytes are there, and any are valid.
    unsafe { bytes.as_ptr().cast::<[u32; PARTS]>().read_unaligned() }.map(u32::from_le)
}

/// C times what lies above the lowest 252 bits, which takes `PARTS` parts.
#[inline(always)]
fn high_times_c<const PARTS: usize>(number: &Wide) -> Wide {
    const { assert!(PARTS <= 9) }
    let mut product = [0; 16];
    for at in 0..PARTS {
        let above = if at == 8 { 0 } else { number[at + 8] << 4 };
        let factor = u64::from(number[at + 7] >> 28 | above);
        let Some([a, b, c, d, e]) = product[at..].first_chunk_mut() else {
            break;
        };
        // At most (2^32 - 1)^2 + 2 (2^32 - 1), which is 2^64 - 1.
        let add = |part: &mut u32, other: u32, carry: u64| {
            let sum = factor
                .wrapping_mul(u64::from(other))
                .wrapping_add(u64::from(*part))
                .wrapping_add(carry);
            *part = sum as u32;
            sum >> 32
        };
        let carry = add(a, C[0], 0);
        let carry = add(b, C[1], carry);
        let carry = add(c, C[2], carry);
        let carry = add(d, C[3], carry);
        *e = carry as u32;
    }
    product
}

/// The difference; none when it would be negative.
#[inline(always)]
fn subtract(number: &Narrow, other: &Narrow) -> Option<Narrow> {
    let mut difference = [0; 8];
    let mut borrow = 0_i64;
    for (at, part) in difference.iter_mut().enumerate() {
        borrow = borrow.wrapping_add(i64::from(number[at])).wrapping_sub(i64::from(other[at]));
        *part = borrow as u32;
        borrow >>= 32;
    }
    (borrow == 0).then_some(difference)
}
