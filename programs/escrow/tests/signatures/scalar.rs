//! Numbers modulo L against a division bit by bit.

use proptest::prelude::*;

use crate::signatures::Scalar;

/// L = 2^252 + C in two parts of 128 bits, the higher first.
const L: (u128, u128) = (1 << 124, C);
const C: u128 = 0x14de_f9de_a2f7_9cd6_5812_631a_5cf5_d3ed;

/// Little-endian.
fn bytes((high, low): (u128, u128)) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[..16].copy_from_slice(&low.to_le_bytes());
    bytes[16..].copy_from_slice(&high.to_le_bytes());
    bytes
}

/// The difference of two numbers, of which the second is not the larger.
fn less((high, low): (u128, u128), other: (u128, u128)) -> (u128, u128) {
    let (low, borrow) = low.overflowing_sub(other.1);
    (high - other.0 - u128::from(borrow), low)
}

/// The remainder of a number of any size: what is left of it, a bit longer each time.
fn remainder(number: &[u8]) -> [u8; 32] {
    let mut rest = (0, 0);
    for byte in number.iter().rev() {
        for bit in (0..8).rev() {
            rest = (rest.0 << 1 | rest.1 >> 127, rest.1 << 1 | u128::from(byte >> bit & 1));
            if rest >= L {
                rest = less(rest, L);
            }
        }
    }
    bytes(rest)
}

/// `factor` × L + `more`, by multiplication in columns.
fn multiple_and(factor: &[u8; 33], more: u8) -> [u8; 64] {
    let mut columns = [0_u32; 65];
    columns[0] = more.into();
    for (at, digit) in factor.iter().enumerate() {
        for (other_at, other) in bytes(L).iter().enumerate() {
            columns[at + other_at] += u32::from(*digit) * u32::from(*other);
        }
    }
    for at in 0..64 {
        columns[at + 1] += columns[at] >> 8;
    }
    assert_eq!(columns[64], 0, "a product of 512 bits");
    core::array::from_fn(|at| columns[at] as u8)
}

fn wide(number: &[u8]) -> [u8; 64] {
    let mut wide = [0; 64];
    wide[..number.len()].copy_from_slice(number);
    wide
}

/// The scalar of these bytes, which are below L.
fn scalar(bytes: &[u8; 32]) -> Scalar {
    Scalar::canonical(bytes).unwrap()
}

fn assert_reduced(number: &[u8; 64]) {
    assert_eq!(Scalar::reduce(number), scalar(&remainder(number)), "{number:x?}");
}

#[test]
fn multiples_of_2_252_and_numbers_of_ones_are_reduced() {
    for bit in 0..512 {
        let mut number = [0; 64];
        number[bit / 8] = 1 << (bit % 8);
        assert_reduced(&number);
        // As many ones, at either end.
        for (at, byte) in number.iter_mut().enumerate() {
            *byte = if at < bit / 8 { 0xFF } else { 0 };
        }
        number[bit / 8] = ((1_u16 << (bit % 8 + 1)) - 1) as u8;
        assert_reduced(&number);
        number.reverse();
        assert_reduced(&number);
    }
    for factor in 0..=u8::MAX {
        let mut number = [0; 64];
        (number[31], number[32]) = (factor << 4, factor >> 4);
        assert_reduced(&number);
        (number[62], number[63]) = (factor, factor);
        assert_reduced(&number);
    }
}

/// Numbers of 256 bits, mostly near L.
fn narrow() -> impl Strategy<Value = (u128, u128)> {
    let high = prop_oneof![Just(L.0), Just(L.0 - 1), Just(L.0 + 1), 0..2 * L.0, any::<u128>()];
    let low = prop_oneof![Just(C), C - 9..C + 9, any::<u128>()];
    (high, low)
}

proptest! {
    #[test]
    fn any_number_has_the_remainder_of_a_division(
        high: [u8; 32],
        low in prop_oneof![Just([0; 32]), Just([0xFF; 32]), any::<[u8; 32]>()],
    ) {
        let mut number = wide(&low);
        number[32..].copy_from_slice(&high);
        assert_reduced(&number);
    }

    #[test]
    fn a_multiple_of_l_leaves_what_is_put_on_it(
        factor: [u8; 33],
        factor_bytes in 0..=33_usize,
        more: u8,
    ) {
        let mut factor = factor;
        factor[factor_bytes..].fill(0);
        factor[32] &= 7; // below 2^259
        let number = multiple_and(&factor, more);
        prop_assert_eq!(Scalar::reduce(&number), scalar(&bytes((0, more.into()))));
        // One less than a multiple, whose digits borrow.
        if factor.iter().any(|digit| *digit > 0) {
            let number = less_one(multiple_and(&factor, 0));
            prop_assert_eq!(Scalar::reduce(&number), scalar(&bytes(less(L, (0, 1)))));
        }
    }

    /// A number below 2^252 has 2L put on it. From 2^252 - 2C on that makes at least 3 × 2^252, so 3L
    /// are taken off. It ends below zero, and needs L once more.
    #[test]
    fn what_ends_below_zero_has_l_put_on(distance in 1..=2 * C) {
        let number = bytes(less((1 << 124, 0), (0, distance)));
        prop_assert_eq!(Scalar::reduce(&wide(&number)), scalar(&number));
    }

    #[test]
    fn a_number_is_canonical_when_it_is_below_l(number in narrow()) {
        prop_assert_eq!(Scalar::canonical(&bytes(number)).is_some(), number < L);
    }
}

fn less_one(mut number: [u8; 64]) -> [u8; 64] {
    for digit in &mut number {
        let (less, borrow) = digit.overflowing_sub(1);
        *digit = less;
        if !borrow {
            break;
        }
    }
    number
}
