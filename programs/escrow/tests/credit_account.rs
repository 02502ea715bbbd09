use proptest::prelude::*;

use crate::{
    limits::{CREDITS_MAX, NO_LIMIT},
    seeds::NONE,
    state::{CreditAccount, credit_account::Limits},
    tests::{address, fresh},
};

const SECONDS_PER_DAY: i64 = 86_400;

fn account(per_job_credits: u64, per_day_credits: u64) -> CreditAccount {
    let mut account = fresh::<CreditAccount>();
    let limits = Limits { per_job_credits, per_day_credits };
    account.open(&address(1), &address(2), &limits, 0).unwrap();
    account
}

#[test]
fn without_a_spender_all_limits_are_zero() {
    for (per_job_credits, per_day_credits) in [(1, 0), (0, 1), (NO_LIMIT, NO_LIMIT)] {
        let limits = Limits { per_job_credits, per_day_credits };
        assert!(fresh::<CreditAccount>().open(&address(1), &NONE, &limits, 0).is_err());
    }
    let mut account = account(NO_LIMIT, NO_LIMIT);
    let none = Limits { per_job_credits: 0, per_day_credits: 0 };
    account.set_spender(&NONE, &none).unwrap();
    assert!(account.set_limits(&none).is_err());
}

#[test]
fn without_limits_a_day_counts_up_to_the_last_number_and_never_wraps() {
    let mut account = account(NO_LIMIT, NO_LIMIT);
    account.spend(NO_LIMIT, 0).unwrap();
    assert!(account.spend(1, SECONDS_PER_DAY - 1).is_err());
    account.spend(NO_LIMIT, SECONDS_PER_DAY).unwrap();
}

#[derive(Clone, Debug)]
enum Step {
    Buy(u64),
    Withdraw(u64),
    Lock(u64),
    /// Ends the oldest job with a charge of so many basis points of its lock.
    End(u64),
    Owe(u64),
    ReceiveOwed(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let credits = prop_oneof![0..200_u64, Just(CREDITS_MAX), any::<u64>()];
    (0..6, credits).prop_map(|(kind, credits)| match kind {
        0 => Step::Buy(credits),
        1 => Step::Withdraw(credits),
        2 => Step::Lock(credits),
        3 => Step::End(credits % 10_001),
        4 => Step::Owe(credits % 1_000),
        _ => Step::ReceiveOwed(credits % 1_000),
    })
}

proptest! {
    #[test]
    fn no_credit_appears_or_is_lost(steps in prop::collection::vec(step(), 0..60)) {
        let mut account = account(NO_LIMIT, NO_LIMIT);
        let mut jobs = Vec::new();
        let mut expected = 0_i128;
        for step in steps {
            let changed = match step {
                Step::Buy(credits) => account.buy(credits, CREDITS_MAX, 0).map(|()| i128::from(credits)),
                Step::Withdraw(credits) => account.withdraw(credits).map(|()| -i128::from(credits)),
                Step::Lock(credits) => account.lock(credits).map(|()| {
                    jobs.push(credits);
                    0
                }),
                Step::End(_) if jobs.is_empty() => continue,
                Step::End(basis_points) => {
                    let locked = jobs.remove(0);
                    let charged = (u128::from(locked) * u128::from(basis_points) / 10_000) as u64;
                    account.unlock(locked, charged).map(|()| -i128::from(charged))
                }
                Step::Owe(credits) => account.owe(credits).map(|()| i128::from(credits)),
                Step::ReceiveOwed(credits) => account.receive_owed(credits).map(|()| 0),
            };
            expected += changed.unwrap_or(0);
            let held = [account.available_credits(), account.locked_credits(), account.owed_credits()];
            prop_assert_eq!(held.map(i128::from).iter().sum::<i128>(), expected);
            prop_assert_eq!(account.locked_credits(), jobs.iter().sum::<u64>());
        }
    }

    #[test]
    fn a_spender_never_locks_more_in_a_day_than_its_limit(
        per_job in 0..50_u64,
        per_day in 0..200_u64,
        locks in prop::collection::vec((0..60_u64, 0..20_000_i64), 1..80),
    ) {
        let mut account = account(per_job, per_day);
        let mut now = 1_000_000_000;
        let mut spent = std::collections::BTreeMap::new();
        for (credits, seconds) in locks {
            now += seconds;
            let today = spent.entry(now / SECONDS_PER_DAY).or_insert(0);
            let allowed = credits <= per_job && *today + credits <= per_day;
            prop_assert_eq!(account.spend(credits, now).is_ok(), allowed);
            *today += if allowed { credits } else { 0 };
        }
    }
}
