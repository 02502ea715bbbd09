use proptest::prelude::*;

use crate::{
    tests::runtime::{RENT, Rent},
    wire::sysvars::{milliseconds, rent_lamports},
};

const ACCOUNT_BYTES_MAX: usize = 10_240;

fn rent_with(lamports_per_byte_year: u64, exemption_threshold: f64, bytes: usize) -> Option<u64> {
    RENT.set(Rent { lamports_per_byte_year, exemption_threshold });
    rent_lamports(bytes).ok()
}

/// As the ledger computes it. Exact as long as the product stays below 2^53.
fn ledgers_rent(lamports_per_byte_year: u64, exemption_threshold: f64, bytes: usize) -> u64 {
    (((128 + bytes as u64) * lamports_per_byte_year) as f64 * exemption_threshold) as u64
}

#[test]
fn thresholds_that_are_no_sensible_number_cost_nothing_or_are_refused_but_never_wrap() {
    assert_eq!(rent_with(3_480, 0.0, 100), Some(0));
    assert_eq!(rent_with(3_480, f64::MIN_POSITIVE, 100), Some(0));
    for threshold in [f64::NAN, f64::INFINITY, f64::MAX, -1.0, 0.1, 1e30, 2_f64.powi(50)] {
        assert_eq!(rent_with(3_480, threshold, 100), None, "{threshold}");
    }
    assert_eq!(rent_with(u64::from(u32::MAX) + 1, 1.0, 100), None);
    assert_eq!(rent_with(3_480, 1.0, ACCOUNT_BYTES_MAX + 1), None);
}

proptest! {
    #[test]
    fn rent_is_the_ledgers_for_every_threshold_of_up_to_15_bits(
        rate in 0..1_u64 << 20,
        significand in 1..1_u32 << 15,
        exponent in -20..4_i32,
        bytes in 0..=ACCOUNT_BYTES_MAX,
    ) {
        let threshold = f64::from(significand) * 2_f64.powi(exponent);
        prop_assume!(((128 + bytes as u64) * rate) as f64 * threshold < 2_f64.powi(53));
        prop_assert_eq!(
            rent_with(rate, threshold, bytes),
            Some(ledgers_rent(rate, threshold, bytes))
        );
    }

    #[test]
    fn no_bits_of_a_threshold_make_rent_wrap(rate in 0_u64.., bits in 0_u64.., bytes in 0_usize..) {
        let threshold = f64::from_bits(bits);
        if let Some(lamports) = rent_with(rate, threshold, bytes) {
            let exact = (128.0 + bytes as f64) * rate as f64 * threshold;
            prop_assert!((lamports as f64 - exact).abs() <= 1.0 + exact * 1e-9);
        }
    }

    #[test]
    fn milliseconds_never_wrap(seconds in i64::MIN..) {
        let exact = i128::from(seconds).clamp(0, 1 << 40) * 1_000;
        prop_assert_eq!(i128::from(milliseconds(seconds)), exact);
    }
}
