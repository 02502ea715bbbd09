//! Decides a dispute. The arbiter signs every verdict, and one for the client needs evidence.
//!
//! A rejected dispute leaves the job settled. An upheld one makes it refunded, and the treasury
//! owes the wallet what it set aside, until `claim_pay`.
//!
//! `upheld_worker` needs two proofs of the recorded attempt by one key: the recorded one, and one
//! of another output or statement. It also takes the job's `slash_tokens` from the worker's stake, or what is
//! left of it. If that is less than `slash_tokens`, the treasury owes its own share of the charge
//! alone. A proof key that was changed counts for the jobs proven before.
//!
//! `upheld_gateway` needs a delivery receipt of another hash or statement, by the key that settled
//! the job or by a signer of its controller. One that differs in the statement alone needs the
//! recorded proof, too.
//!
//! Arguments that a verdict does not need are not looked at.
//!
//! Emits `DisputeResolved`.
//!
//! # Errors
//! - `Unauthorized`: `arbiter` is not the configuration's arbiter
//! - `WrongAddress`: `credit_account` or `worker` is not the job's
//! - `InvalidVerdict`
//! - `WrongJobStatus`: The job is not disputed
//! - `VerdictTooEarly`: No more than `DISPUTE_WINDOW_SECONDS` have passed since the settlement
//! - `ArbitrationClosed`: More than `ARBITRATION_WINDOW_SECONDS` have passed since the dispute was
//!   opened
//! - `ProofWrongKey`
//! - `ProofWrongMessage`
//! - `SignatureInvalid`: A message of this job is not signed by `key`

use pinocchio::Address;

use crate::{
    checks::{
        accounts,
        evidence::{Delivered, Evidence, Signed},
    },
    error::Result,
    events::{CreditPart, DisputeResolved, JobPart, WorkerPart},
    limits::base_units,
    state::{
        Config, CreditAccount, Job, Treasury, Worker,
        job::{DisputeOutcome, Output},
    },
    wire::{Clock, arguments, byte::Byte, load, load_mut},
};

arguments! {
    pub struct Arguments<'a> {
        /// rejected, upheld_gateway or upheld_worker
        verdict: Byte<DisputeOutcome>,
        /// Signed both proofs, or the receipt
        key: &'a Address,
        /// Of the recorded proof; where a receipt has its hash, too, as the next
        recorded_statement: &'a [u8; 32],
        /// Of the recorded proof
        recorded_signature: &'a [u8; 64],
        /// Of the other proof, or of the receipt
        output_hash: &'a [u8; 32],
        /// Of the other proof; for upheld_worker, as the next two
        prompt_tokens: u32,
        /// Of the other proof
        completion_tokens: u32,
        /// Of the other proof, or of the receipt
        statement: &'a [u8; 32],
        /// Of the other proof, or of the receipt
        signature: &'a [u8; 64],
    }
}

accounts! {
    pub struct Accounts {
        arbiter: Signer,
        /// Given when a signer of the controller, a gateway, signed the receipt
        gateway: Optional,
        config: Readonly,
        job: Writable,
        /// The job's credit account
        credit_account: Writable,
        treasury: Writable,
        /// The job's worker
        worker: Writable,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

impl Arguments<'_> {
    /// The sha256 of the messages that support the verdict, once they are verified.
    fn evidence_hash(
        &self,
        outcome: DisputeOutcome,
        accounts: &Accounts,
        job: &Job,
        worker: &Worker,
    ) -> Result<[u8; 32]> {
        let evidence = Evidence { job_address: accounts.job.address(), job, key: self.key };
        let recorded = Signed {
            output: job.output(),
            statement: self.recorded_statement,
            signature: self.recorded_signature,
        };
        match outcome {
            DisputeOutcome::UpheldWorker => {
                let other = Signed {
                    output: Output {
                        hash: self.output_hash,
                        prompt_tokens: self.prompt_tokens,
                        completion_tokens: self.completion_tokens,
                    },
                    statement: self.statement,
                    signature: self.signature,
                };
                evidence.against_worker(worker, &recorded, &other)
            }
            DisputeOutcome::UpheldGateway => {
                let delivered = Delivered {
                    output_hash: self.output_hash,
                    statement: self.statement,
                    signature: self.signature,
                };
                evidence.against_gateway(accounts.gateway.as_ref(), worker, &recorded, &delivered)
            }
            _ => Ok([0; 32]),
        }
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, arguments: Arguments) -> Result {
    load::<Config>(&accounts.config)?.require_arbiter(accounts.arbiter.address())?;
    let job: &mut Job = load_mut(&accounts.job)?;
    let credit_account: &mut CreditAccount = load_mut(&accounts.credit_account)?;
    let treasury: &mut Treasury = load_mut(&accounts.treasury)?;
    let worker: &mut Worker = load_mut(&accounts.worker)?;
    job.require_credit_account(accounts.credit_account.address())?;
    job.require_worker(accounts.worker.address())?;
    let outcome = DisputeOutcome::from_verdict(arguments.verdict)?;
    let clock = Clock::get();

    job.require_resolvable(clock.unix_time)?;
    let evidence_hash = arguments.evidence_hash(outcome, &accounts, job, worker)?;

    let mut slashed_tokens = 0;
    if outcome == DisputeOutcome::UpheldWorker {
        slashed_tokens = worker.slash(u64::from(job.slash_tokens()))?;
        treasury.add_slashed(slashed_tokens)?;
    }
    let exposed_base_units = base_units(job.repayable_credits()?)?;
    let repaid_credits = job.resolve(outcome, slashed_tokens, clock.unix_time)?;
    credit_account.close_dispute()?;
    treasury.owe(base_units(repaid_credits)?, exposed_base_units)?;
    credit_account.owe(repaid_credits)?;
    if slashed_tokens > 0 {
        worker.changed()?;
    }
    job.changed()?;
    credit_account.changed()?;
    treasury.changed()?;

    DisputeResolved {
        job: JobPart(&accounts.job, job),
        account: CreditPart(&accounts.credit_account, credit_account),
        worker: WorkerPart(&accounts.worker, worker),
        treasury_sequence: treasury.sequence(),
        verdict: arguments.verdict,
        evidence_hash: &evidence_hash,
        repaid_credits,
        charged_credits: job.charged_credits(),
        owed_credits: credit_account.owed_credits(),
        open_disputes: credit_account.open_disputes(),
        owed_base_units: treasury.owed_base_units(),
        disputed_exposure_base_units: treasury.disputed_exposure_base_units(),
        slashed_tokens,
        slashed_stake_tokens: treasury.slashed_stake_tokens(),
        stake_tokens: worker.stake_tokens(),
        unstaking_tokens: worker.unstaking_tokens(),
    }
    .emit(&accounts.event_authority, &clock)
}
