use proptest::prelude::*;

use crate::{
    limits::JOB_DECIDED_SECONDS,
    state::{Worker, worker::Description},
    tests::{address, fresh},
    wire::text::Text,
};

const DECIDED: i64 = JOB_DECIDED_SECONDS as i64;

fn describe(proof_key: u8, with: impl FnOnce(&Description)) {
    with(&Description {
        proof_key: &address(proof_key),
        payout: &address(9),
        endpoint: Text::new(b"https://worker.example").ok().unwrap(),
    });
}

fn worker() -> Worker {
    let mut worker = fresh::<Worker>();
    describe(10, |description| worker.open(&address(1), description, 0).unwrap());
    worker
}

fn change_key(worker: &mut Worker, key: u8, now: i64) -> bool {
    let mut changed = false;
    describe(key, |description| changed = worker.update(description, now).is_ok());
    changed
}

#[test]
fn the_key_of_before_counts_up_to_the_second_of_the_change_and_the_new_one_from_it_on() {
    let mut worker = worker();
    assert!(worker.proves_with(&address(10), 5) && !worker.proves_with(&address(11), 5));
    assert!(change_key(&mut worker, 11, 100));
    for (proven_at, old, new) in [(99, true, false), (100, true, true), (101, false, true)] {
        assert_eq!(worker.proves_with(&address(10), proven_at), old, "the old key at {proven_at}");
        assert_eq!(worker.proves_with(&address(11), proven_at), new, "the new key at {proven_at}");
    }
    assert!(!worker.proves_with(&crate::seeds::NONE, 100));
}

#[test]
fn a_key_is_not_forgotten_before_the_last_job_that_it_proved_is_decided() {
    let mut worker = worker();
    assert!(change_key(&mut worker, 11, 100));
    assert!(change_key(&mut worker, 11, 101), "an equal key is no change");
    assert!(!change_key(&mut worker, 10, 100 + DECIDED - 1));
    assert!(worker.proves_with(&address(10), 100));
    assert!(change_key(&mut worker, 10, 100 + DECIDED));
    assert!(!worker.proves_with(&address(10), 100 + DECIDED - 1));
    assert!(worker.proves_with(&address(11), 100 + DECIDED));
}

proptest! {
    #[test]
    fn stake_is_conserved_and_bound_by_the_lowest_cooldown(
        steps in prop::collection::vec((0..4_u8, 0..100_u64, DECIDED..20 * DECIDED), 1..60),
    ) {
        let mut worker = worker();
        let (mut now, mut held, mut lowest, mut ready_at) = (0, 0, 0, 0);
        for (kind, tokens, seconds) in steps {
            now += seconds / 50;
            match kind {
                0 if worker.stake(tokens, seconds as u32).is_ok() => {
                    lowest = if held == 0 { seconds } else { seconds.min(lowest) };
                    held += tokens;
                }
                1 if worker.unlock(tokens, now).is_ok() => ready_at = now + lowest,
                2 => if let Ok(withdrawn) = worker.withdraw(now) {
                    prop_assert!(now >= ready_at && withdrawn > 0);
                    held -= withdrawn;
                },
                3 => {
                    let slashed = worker.slash(tokens).unwrap();
                    prop_assert_eq!(slashed, tokens.min(held));
                    held -= slashed;
                }
                _ => {}
            }
            prop_assert_eq!(worker.stake_tokens() + worker.unstaking_tokens(), held);
        }
    }
}
