use core::fmt;

use proptest::prelude::*;

use crate::{
    limits::{BASE_UNITS_PER_CREDIT, BASIS_POINTS, CREDITS_MAX, base_units, share_base_units},
    state::pricing::Prices,
};

impl fmt::Debug for Prices {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Self { credits_per_request, credits_per_1k_tokens, long_completion_threshold_tokens } =
            self;
        write!(
            formatter,
            "{credits_per_request} a request, {credits_per_1k_tokens} per 1,000 above \
             {long_completion_threshold_tokens}"
        )
    }
}

fn prices() -> impl Strategy<Value = Prices> {
    (1_u32.., 1_u32.., 0_u32..).prop_map(|(per_request, per_1k_tokens, threshold)| Prices {
        credits_per_request: per_request,
        credits_per_1k_tokens: per_1k_tokens,
        long_completion_threshold_tokens: threshold,
    })
}

proptest! {
    #[test]
    fn a_long_answer_costs_the_exact_price_rounded_up(prices in prices(), tokens in 0_u32..) {
        let charge = u128::from(prices.charge_credits(tokens));
        if tokens <= prices.long_completion_threshold_tokens {
            prop_assert_eq!(charge, u128::from(prices.credits_per_request));
        } else {
            let exact = u128::from(tokens) * u128::from(prices.credits_per_1k_tokens);
            prop_assert!(charge * 1_000 >= exact && charge * 1_000 < exact + 1_000);
        }
    }

    #[test]
    fn a_lock_covers_every_answer_within_its_limit(
        prices in prices(),
        (limit, tokens) in (1_u32..).prop_flat_map(|limit| (Just(limit), 0..=limit)),
    ) {
        let lock = prices.lock_credits(limit);
        prop_assert!(lock >= u64::from(prices.credits_per_request));
        prop_assert!(lock >= prices.charge_credits(tokens));
    }

    #[test]
    fn the_shares_of_a_charge_are_exact(credits in 0..=CREDITS_MAX, share in 0..=BASIS_POINTS) {
        let total = base_units(credits).unwrap();
        let treasury = share_base_units(credits, share as u16).unwrap();
        prop_assert_eq!(total, credits * BASE_UNITS_PER_CREDIT);
        prop_assert!(treasury <= total);
        let exact = u128::from(total) * u128::from(share);
        prop_assert_eq!(u128::from(treasury) * u128::from(BASIS_POINTS), exact);
    }

    #[test]
    fn more_credits_than_may_exist_are_refused(credits in CREDITS_MAX + 1..) {
        prop_assert!(base_units(credits).is_err() && share_base_units(credits, 1).is_err());
    }
}
