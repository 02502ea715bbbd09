use proptest::prelude::*;

use crate::{
    state::{
        Config, Job, Model,
        job::{Controller, DisputeOutcome, FailureReason, Lock, Output},
        model::{Description, Tier},
        pricing::Prices,
    },
    tests::{address, config::config, fresh},
    wire::text::Text,
};

const LOCKED: u64 = 8;
/// Of the configuration.
const SLASH: u64 = 500;
const T: i64 = 120;

/// Just locked, and counted for the day that is given; zero for none.
pub fn job(credits: u64, limit_day: u32, vouched: bool) -> Job {
    let mut model = fresh::<Model>();
    let text = Text::new(b"8B").ok().unwrap();
    let prices = Prices {
        credits_per_request: 8,
        credits_per_1k_tokens: 4,
        long_completion_threshold_tokens: 500,
    };
    let description = Description {
        tier: Tier::Standard.into(),
        label: text,
        originator: text,
        context_window_tokens: 32_768,
        prices,
        card_hash: &[0; 32],
    };
    model.open(text, 0).unwrap();
    model.describe(&description).unwrap();
    let terms: Config = config(0);
    let lock = Lock {
        job_id: &[0; 16],
        credit_account: &address(1),
        controller: &Controller { address: &address(2), vouched },
        model: &address(3),
        rent_payer: &address(4),
        token_limit: 2_000,
        credits,
        limit_day,
        now: 0,
    };
    let mut job = fresh::<Job>();
    job.open(&lock, &terms, &model);
    job
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Status {
    Pending,
    Processing,
    Settling,
    Settled,
    Returned,
    Disputed,
    Decided,
}

#[derive(Clone, Debug)]
enum Step {
    Acknowledge(u8),
    Prove(u8),
    Settle(u8, u32),
    Fail(u8, u32),
    Refund,
    Dispute(u8, bool),
    /// With how many tokens were slashed.
    Resolve(u8, u64),
    Expire,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        prop_oneof![1..4_u8, Just(255)].prop_map(Step::Acknowledge),
        (1..3_u8).prop_map(Step::Prove),
        (1..3_u8, 0..900_u32).prop_map(|(hash, tokens)| Step::Settle(hash, tokens)),
        (1..3_u8, 0..2_u32).prop_map(|(hash, tokens)| Step::Fail(hash, tokens)),
        Just(Step::Refund),
        (1..3_u8, any::<bool>()).prop_map(|(hash, is_wallet)| Step::Dispute(hash, is_wallet)),
        (1..4_u8, prop_oneof![Just(SLASH), 0..SLASH])
            .prop_map(|(verdict, slashed)| Step::Resolve(verdict, slashed)),
        Just(Step::Expire),
    ]
}

/// Mostly moments, else the deadlines.
fn seconds() -> impl Strategy<Value = i64> {
    prop_oneof![6 => 0..3_i64, 1 => 59..62_i64, 1 => 119..122_i64, 1 => 86_399..86_402_i64]
}

/// The job's life as the design's table has it.
struct Table {
    status: Status,
    attempt: u8,
    hash: u8,
    ended_at: i64,
    disputed_at: i64,
    disputed_by_wallet: bool,
}

impl Table {
    fn allows(&mut self, step: &Step, now: i64) -> bool {
        use Status::*;
        let holds_lock = matches!(self.status, Pending | Processing | Settling);
        let in_time = now <= T;
        let arbitration_ends_at = self.disputed_at + 86_400;
        match *step {
            Step::Acknowledge(attempt) if holds_lock && in_time && attempt > self.attempt => {
                (self.status, self.attempt) = (Processing, attempt);
            }
            Step::Prove(hash) if self.status == Processing && in_time => {
                (self.status, self.hash) = (Settling, hash);
            }
            Step::Settle(hash, tokens)
                if self.status == Settling && in_time && hash == self.hash && tokens > 0 =>
            {
                (self.status, self.ended_at) = (Settled, now);
            }
            Step::Fail(hash, tokens)
                if holds_lock
                    && in_time
                    && (self.status != Settling || hash != self.hash || tokens == 0) =>
            {
                self.status = Returned;
            }
            Step::Refund if holds_lock && now > T => self.status = Returned,
            Step::Dispute(hash, is_wallet)
                if self.status == Settled && now <= self.ended_at + 60 && hash != self.hash =>
            {
                (self.status, self.disputed_at) = (Disputed, now);
                self.disputed_by_wallet = is_wallet;
            }
            Step::Dispute(hash, true)
                if self.status == Disputed
                    && !self.disputed_by_wallet
                    && now <= arbitration_ends_at
                    && hash != self.hash =>
            {
                self.disputed_by_wallet = true;
            }
            Step::Resolve(..)
                if self.status == Disputed
                    && now > self.ended_at + 60
                    && now <= arbitration_ends_at =>
            {
                self.status = Decided;
            }
            Step::Expire if self.status == Disputed && now > arbitration_ends_at => {
                self.status = Decided;
            }
            _ => return false,
        }
        true
    }
}

/// Whether the program took the step, and the credits that it repays.
fn take(job: &mut Job, step: &Step, now: i64) -> Option<u64> {
    let moved = match *step {
        Step::Acknowledge(attempt) => job.acknowledge(&address(attempt), attempt, now).map(|_| 0),
        Step::Prove(hash) => {
            let hash = &[hash; 32];
            job.prove(&Output { hash, prompt_tokens: 1, completion_tokens: 700 }, now).map(|()| 0)
        }
        Step::Settle(hash, tokens) => job.settle(&[hash; 32], tokens, &address(9), now).map(|_| 0),
        Step::Fail(hash, tokens) => job
            .fail(FailureReason::ContextLengthExceeded.into(), &[hash; 32], tokens, now)
            .map(|()| 0),
        Step::Refund => job.refund(now).map(|()| 0),
        Step::Dispute(hash, true) if job.is_amendable() => {
            job.amend_dispute(&[hash; 32], now).map(|()| 0)
        }
        Step::Dispute(hash, is_wallet) => job.dispute(&[hash; 32], is_wallet, now).map(|_| 0),
        Step::Resolve(1, _) => job.resolve(DisputeOutcome::Rejected, 0, now),
        Step::Resolve(2, _) => job.resolve(DisputeOutcome::UpheldGateway, 0, now),
        Step::Resolve(_, slashed) => job.resolve(DisputeOutcome::UpheldWorker, slashed, now),
        Step::Expire => job.expire(now).map(|()| 0),
    };
    moved.ok()
}

proptest! {
    #[test]
    fn a_job_lives_as_the_table_says_and_repays_no_more_than_it_charged(
        vouched: bool,
        steps in prop::collection::vec((step(), seconds()), 0..40),
    ) {
        let mut job = job(LOCKED, 0, vouched);
        let mut now = 0;
        let mut table = Table {
            status: Status::Pending,
            attempt: 0,
            hash: 0,
            ended_at: 0,
            disputed_at: 0,
            disputed_by_wallet: false,
        };
        for (step, seconds) in steps {
            now += seconds;
            let charged = job.charged_credits();
            let repayable = job.repayable_credits().unwrap();
            let repaid = take(&mut job, &step, now);
            prop_assert_eq!(repaid.is_some(), table.allows(&step, now), "{:?} at {}", &step, now);
            if repaid.is_some() {
                prop_assert!(job.invariant().is_ok(), "{:?} at {}", &step, now);
            }
            let repaid = repaid.unwrap_or(0);
            prop_assert!(repaid <= repayable);
            match step {
                Step::Resolve(1, _) => prop_assert_eq!(repaid, 0),
                Step::Resolve(verdict, slashed) if repaid > 0 => {
                    let is_borne = verdict == 2 || slashed == SLASH;
                    prop_assert_eq!(vouched && is_borne, repaid == charged);
                }
                _ => prop_assert_eq!(repaid, 0),
            }
            prop_assert!(job.charged_credits() <= LOCKED);
            if repaid > 0 {
                prop_assert_eq!(job.charged_credits(), charged - repaid);
            }
            let shows_proof = !matches!(table.status, Status::Pending | Status::Processing);
            prop_assert!(shows_proof || job.output_hash() == &[0; 32]);
        }
    }
}
