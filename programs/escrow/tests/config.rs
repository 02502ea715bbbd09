use proptest::prelude::*;

use crate::{
    limits::{CREDITS_MAX, JOB_DECIDED_SECONDS, TREASURY_FLOOR_NOTICE_SECONDS},
    state::{
        Config,
        config::{Mints, Terms},
    },
    tests::{address, fresh},
};

const NOTICE: i64 = TREASURY_FLOOR_NOTICE_SECONDS as i64;

pub fn terms(arbiter: &pinocchio::Address, treasury_floor_credits: u64) -> Terms<'_> {
    Terms {
        arbiter,
        treasury_share_basis_points: 1_500,
        unstake_cooldown_seconds: JOB_DECIDED_SECONDS,
        open_disputes_max: 2,
        minimum_stake_tokens: 1_000,
        slash_tokens: 500,
        job_credits_max: 3_000,
        credit_account_credits_max: CREDITS_MAX,
        treasury_floor_credits,
    }
}

pub fn config(treasury_floor_credits: u64) -> Config {
    let mints = Mints { credit_mint: &address(3), stake_mint: &address(4), stake_decimals: 9 };
    let mut config = fresh::<Config>();
    config.open(&address(1), &mints, &terms(&address(2), treasury_floor_credits), 0).unwrap();
    config
}

proptest! {
    #[test]
    fn whatever_the_authority_does_no_floor_ends_before_its_notice_is_over(
        first in 0..1_000_u64,
        changes in prop::collection::vec((0..1_000_u64, 0..2 * NOTICE), 1..12),
    ) {
        let mut config = config(first);
        // Each floor, and when another took its place.
        let mut floors = vec![(first, i64::MAX)];
        let mut now = 0;
        for (floor, seconds) in changes {
            now += seconds;
            config.set_terms(&terms(&address(2), floor), now).unwrap();
            floors.last_mut().unwrap().1 = now;
            floors.push((floor, i64::MAX));
            let highest_of_before = floors
                .iter()
                .filter(|(_, until)| now < until.saturating_add(NOTICE))
                .map(|(floor, _)| *floor)
                .max();
            prop_assert!(config.treasury_floor_in_force_credits(now) >= highest_of_before.unwrap());
            prop_assert_eq!(config.treasury_floor_in_force_credits(now + NOTICE), floor);
        }
    }

    #[test]
    fn stakes_of_any_permitted_number_of_tokens_fit_the_mints_base_units(tokens: u64) {
        let exact = u128::from(tokens) * 1_000_000_000;
        match config(0).stake_base_units(tokens) {
            Ok(base_units) => prop_assert_eq!(u128::from(base_units), exact),
            Err(_) => prop_assert!(tokens > 10_000_000_000),
        }
    }
}
