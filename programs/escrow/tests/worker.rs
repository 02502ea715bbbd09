use proptest::prelude::*;

use crate::{
    limits::JOB_DECIDED_SECONDS,
    state::{Worker, worker::Description},
    tests::{address, fresh},
    wire::text::Text,
};

const DECIDED: i64 = JOB_DECIDED_SECONDS as i64;

fn worker() -> Worker {
    let mut worker = fresh::<Worker>();
    let description = Description {
        proof_key: &address(10),
        payout: &address(9),
        endpoint: Text::new(b"https://worker.example").ok().unwrap(),
    };
    worker.open(&address(1), &description, 0).unwrap();
    worker
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
