use proptest::prelude::*;

use crate::{
    limits::{CREDITS_MAX, NO_LIMIT},
    state::{CreditAccount, Job, credit_account::Limits},
    tests::{address, fresh, job::job},
};

const SECONDS_PER_DAY: i64 = 86_400;

fn account(per_job_credits: u64, per_day_credits: u64) -> CreditAccount {
    let mut account = fresh::<CreditAccount>();
    let limits = Limits { per_job_credits, per_day_credits };
    account.open(&address(1), &address(2), &limits, 0).unwrap();
    account
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
    /// By the wallet, or else by the spender.
    Lock(u64, bool),
    /// Ends a job with a charge of so many basis points of its lock.
    End(usize, u64),
    /// An upheld dispute.
    Owe(u64),
    ReceiveOwed(u64),
    /// Sets the ledger's clock: mostly on, at times back.
    Pass(i64),
}

fn step(credits_max: u64) -> impl Strategy<Value = Step> {
    let credits = prop_oneof![8 => 0..200_u64, 1 => 0..=credits_max].boxed();
    prop_oneof![
        1 => credits.clone().prop_map(Step::Buy),
        1 => credits.clone().prop_map(Step::Withdraw),
        3 => (credits, prop::bool::weighted(0.2)).prop_map(|(credits, by)| Step::Lock(credits, by)),
        3 => (any::<usize>(), 0..=10_000_u64).prop_map(|(job, charge)| Step::End(job, charge)),
        1 => (0..1_000_u64).prop_map(Step::Owe),
        1 => (0..1_000_u64).prop_map(Step::ReceiveOwed),
        1 => prop_oneof![3 => 0..60_000_i64, 1 => -60_000..0_i64].prop_map(Step::Pass),
    ]
}

/// What became of a lock of the spender.
struct Lock {
    job: Job,
    charged: Option<u64>,
}

impl Lock {
    /// What it takes from its day's limit.
    fn counted(&self) -> u64 {
        self.charged.unwrap_or(self.job.locked_credits())
    }
}

/// An account, and each of its jobs.
struct Books {
    account: CreditAccount,
    jobs: Vec<Lock>,
    now: i64,
}

impl Books {
    /// The locks that a day counts. None of the wallet is among them.
    fn of_day(&self, day: u32) -> impl Iterator<Item = &Lock> {
        self.jobs.iter().filter(move |lock| day != 0 && lock.job.limit_day() == day)
    }

    /// What the locks of a day charged and hold.
    fn counted(&self, day: u32) -> u64 {
        self.of_day(day).map(Lock::counted).sum()
    }

    /// The day that a lock counts on now: never one before the account's.
    fn day(&self) -> u32 {
        self.account.spent_day().max((self.now / SECONDS_PER_DAY) as u32)
    }

    /// As `job_lock` does, which leaves nothing behind when it is refused.
    fn lock(&mut self, credits: u64, is_wallet: bool) -> bool {
        if credits > self.account.available_credits() {
            return false;
        }
        let day = if is_wallet { Ok(0) } else { self.account.spend(credits, self.now) };
        let Ok(limit_day) = day else {
            return false;
        };
        self.account.lock(credits).unwrap();
        self.jobs.push(Lock { job: job(credits, limit_day, false), charged: None });
        true
    }

    fn end(&mut self, chosen: usize, basis_points: u64) -> u64 {
        let mut open: Vec<&mut Lock> =
            self.jobs.iter_mut().filter(|lock| lock.charged.is_none()).collect();
        if open.is_empty() {
            return 0;
        }
        let at = chosen % open.len();
        let locked = open[at].job.locked_credits();
        let charged = (u128::from(locked) * u128::from(basis_points) / 10_000) as u64;
        self.account.unlock(&open[at].job, charged).unwrap();
        open[at].charged = Some(charged);
        charged
    }

    /// Takes a step. Returns what it brought the account, or took from it.
    fn take(&mut self, step: &Step) -> i128 {
        let Self { account, now, .. } = self;
        match *step {
            Step::Buy(credits) if account.buy(credits, CREDITS_MAX, *now).is_ok() => credits.into(),
            Step::Withdraw(credits) if account.withdraw(credits).is_ok() => -i128::from(credits),
            Step::Lock(credits, is_wallet) => {
                self.lock(credits, is_wallet);
                0
            }
            Step::End(chosen, basis_points) => -i128::from(self.end(chosen, basis_points)),
            Step::Owe(credits) if account.owe(credits).is_ok() => credits.into(),
            Step::ReceiveOwed(credits) => {
                let _refused = account.receive_owed(credits);
                0
            }
            Step::Pass(seconds) => {
                *now += seconds;
                0
            }
            _ => 0,
        }
    }
}

fn books(per_job_credits: u64, per_day_credits: u64) -> Books {
    let account = account(per_job_credits, per_day_credits);
    Books { account, jobs: Vec::new(), now: 1_000_000_000 }
}

proptest! {
    #[test]
    fn no_credit_appears_or_is_lost(steps in prop::collection::vec(step(CREDITS_MAX), 0..60)) {
        let mut books = books(NO_LIMIT, NO_LIMIT);
        let mut expected = 0;
        for step in steps {
            expected += books.take(&step);
            let Books { account, jobs, .. } = &books;
            let free = i128::from(account.available_credits()) + i128::from(account.owed_credits());
            prop_assert_eq!(free + i128::from(account.locked_credits()), expected);
            let open = jobs.iter().filter(|lock| lock.charged.is_none());
            let locked: u64 = open.map(|lock| lock.job.locked_credits()).sum();
            prop_assert_eq!(account.locked_credits(), locked);
        }
    }

    #[test]
    fn what_a_days_locks_charge_and_hold_never_exceeds_its_limit(
        per_job in 0..200_u64,
        per_day in 0..400_u64,
        steps in prop::collection::vec(step(1_000), 1..120),
    ) {
        let mut books = books(per_job, per_day);
        books.account.buy(CREDITS_MAX / 2, CREDITS_MAX, 0).unwrap();
        for step in steps {
            let (day, spent) = (books.account.spent_day(), books.account.spent_today_credits());
            if let Step::Lock(credits, false) = step {
                let fits = credits <= per_job && books.counted(books.day()) + credits <= per_day;
                let allowed = fits && credits <= books.account.available_credits();
                prop_assert_eq!(books.lock(credits, false), allowed);
                prop_assert!(!allowed || books.account.spent_day() == books.day());
            } else {
                let is_open = books.of_day(day).any(|lock| lock.charged.is_none());
                books.take(&step);
                let counts = matches!(step, Step::End(..)) && is_open;
                prop_assert!(counts || books.account.spent_today_credits() == spent);
                prop_assert_eq!(books.account.spent_day(), day);
            }
            let Books { account, .. } = &books;
            prop_assert_eq!(account.spent_today_credits(), books.counted(account.spent_day()));
            for lock in &books.jobs {
                prop_assert!(books.counted(lock.job.limit_day()) <= per_day);
            }
        }
    }
}
