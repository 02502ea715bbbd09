//! Numbers modulo the order of the base point, L = 2^252 + C.

/// The parts of 32 bits of a number below 2^512, the lowest first.
type Wide = [u32; 16];
/// Of a number below 2^256.
type Narrow = [u32; 8];

const C: [u32; 4] = [0x5cf5_d3ed, 0x5812_631a, 0xa2f7_9cd6, 0x14de_f9de];
const L: Narrow = [C[0], C[1], C[2], C[3], 0, 0, 0, 1 << 28];

/// A number below L.
pub struct Scalar(Narrow);

impl Scalar {
    /// Little-endian bytes, unless they are L or more: then the same signature would have a second
    /// form.
    pub fn canonical(bytes: &[u8; 32]) -> Option<Self> {
        let number = parts(bytes);
        (subtract(&number, &L).is_none()).then_some(Self(number))
    }

    /// The remainder of 512 little-endian bits.
    ///
    /// 2^252 is -C here, so what lies above 252 bits is multiplied by C and taken off, and what of
    /// that lies above is put on again, until nothing does.
    pub fn reduce(bytes: &[u8; 64]) -> Self {
        let first = parts(bytes);
        let second = high_times_c::<9>(&first);
        let third = high_times_c::<5>(&second);
        let fourth = high_times_c::<1>(&third);
        let (plus, minus) = ([low(&first), low(&third)], [low(&second), low(&fourth)]);

        // What is taken off is below 2L. Each part fits 36 bits with its sign.
        let mut number = [0; 8];
        let mut carry = 0;
        for (at, part) in number.iter_mut().enumerate() {
            let sum = carry + i64::from(plus[0][at]) + i64::from(plus[1][at])
                + 2 * i64::from(L[at])
                - i64::from(minus[0][at])
                - i64::from(minus[1][at]);
            *part = sum as u32;
            carry = sum >> 32;
        }
        while let Some(less) = subtract(&number, &L) {
            number = less;
        }
        Self(number)
    }

    pub fn bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (at, part) in self.0.iter().enumerate() {
            bytes[4 * at..4 * at + 4].copy_from_slice(&part.to_le_bytes());
        }
        bytes
    }
}

fn parts<const BYTES: usize, const PARTS: usize>(bytes: &[u8; BYTES]) -> [u32; PARTS] {
    const { assert!(BYTES == 4 * PARTS) }
    let (parts, _) = bytes.as_chunks();
    core::array::from_fn(|at| u32::from_le_bytes(parts[at]))
}

/// The lowest 252 bits.
fn low(number: &Wide) -> Narrow {
    let mut low: Narrow = core::array::from_fn(|at| number[at]);
    low[7] &= (1 << 28) - 1;
    low
}

/// C times what lies above the lowest 252 bits, which takes `PARTS` parts.
fn high_times_c<const PARTS: usize>(number: &Wide) -> Wide {
    let mut product = [0; 16];
    for at in 0..PARTS {
        let above = number.get(at + 8).map_or(0, |part| part << 4);
        let factor = u64::from(number[at + 7] >> 28 | above);
        let mut carry = 0;
        for (offset, part) in C.iter().enumerate() {
            // At most (2^32 - 1)^2 + 2 (2^32 - 1): it fits. A product that checks would need 128
            // bits, which the virtual machine lacks.
            let sum = factor.wrapping_mul(u64::from(*part)) + u64::from(product[at + offset]) + carry;
            product[at + offset] = sum as u32;
            carry = sum >> 32;
        }
        product[at + 4] = carry as u32;
    }
    product
}

/// The difference; none when it would be negative.
fn subtract(number: &Narrow, other: &Narrow) -> Option<Narrow> {
    let mut difference = [0; 8];
    let mut borrow = 0;
    for (at, part) in difference.iter_mut().enumerate() {
        let sum = i64::from(number[at]) - i64::from(other[at]) + borrow;
        *part = sum as u32;
        borrow = sum >> 32;
    }
    (borrow == 0).then_some(difference)
}
