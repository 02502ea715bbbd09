//! A worker: its keys, its stake and the models it hosts. Never closed, so its sequence never
//! starts again.

use pinocchio::Address;

use crate::{
    error::{EscrowError, Result, require},
    limits::{JOB_DECIDED_SECONDS, MODELS_PER_WORKER_MAX, STAKE_TOKENS_MAX},
    seeds::NONE,
    wire::{
        byte::{Byte, enumeration},
        layout::layout,
        little_endian::{I64, U32, U64},
        text::Text,
    },
};

/// As the length of a list.
const MODELS_MAX: usize = MODELS_PER_WORKER_MAX as usize;

enumeration! {
    /// Whether a worker is given jobs
    pub enum WorkerStatus {
        /// Is given jobs
        Active,
        /// Is given none until the arbiter readmits it
        Suspended,
        /// Is given none ever again
        Deregistered,
    }
}

/// A registered worker
#[repr(C)]
pub struct Worker {
    discriminator: [u8; 8],
    version: u8,
    bump: u8,
    /// Grows by one with every change
    sequence: U64,
    /// Registers, stakes and changes the worker
    authority: Address,
    /// The ed25519 key that signs proofs
    proof_key: Address,
    /// The token account that is paid
    payout: Address,
    status: Byte<WorkerStatus>,
    /// Whole tokens at stake
    stake_tokens: U64,
    /// Whole tokens on their way out, still within reach of a verdict
    unstaking_tokens: U64,
    /// When the unstaking tokens can be withdrawn
    unstake_ready_at: I64,
    /// Pay that lies in the vault because it could not be paid at settlement
    claimable_base_units: U64,
    jobs_settled: U64,
    registered_at: I64,
    endpoint_len: u8,
    /// Where jobs are posted, printable ASCII, padded with zeros
    endpoint: [u8; 128],
    models_len: u8,
    /// The Model accounts hosted
    models: [Address; 16],
    /// The lowest cooldown at any deposit since nothing was staked; binds every unlock
    unstake_cooldown_seconds: U32,
    /// The key that signed proofs before; zero when it never changed
    previous_proof_key: Address,
    /// When the proof key last changed; zero when it never did
    proof_key_changed_at: I64,
    reserved: [u8; 20],
}

layout! {
    Worker {
        sequence: u64,
        numbers {
            stake_tokens: u64,
            unstaking_tokens: u64,
            unstake_ready_at: i64,
            claimable_base_units: u64,
            jobs_settled: u64,
            unstake_cooldown_seconds: u32,
            proof_key_changed_at: i64,
        }
        bytes {}
        references {
            authority: Address,
            proof_key: Address,
            previous_proof_key: Address,
            payout: Address,
        }
    }
}

/// What a worker says about itself.
pub struct Description<'a> {
    pub proof_key: &'a Address,
    pub payout: &'a Address,
    pub endpoint: Text<'a>,
}

impl Worker {
    pub fn open(&mut self, authority: &Address, description: &Description, now: i64) -> Result {
        self.authority = *authority;
        self.registered_at.set(now);
        self.proof_key = *description.proof_key;
        self.describe(description)
    }

    /// Where jobs go, who signs proofs and who is paid. Open to a worker that left, too: the pay
    /// that waits for it would be lost if its payee could never receive it.
    pub fn update(&mut self, description: &Description, now: i64) -> Result {
        if description.proof_key != &self.proof_key {
            self.change_proof_key(description.proof_key, now)?;
        }
        self.describe(description)
    }

    fn describe(&mut self, description: &Description) -> Result {
        require!(description.proof_key != &NONE, ValueOutOfRange);
        self.payout = *description.payout;
        self.endpoint_len = description.endpoint.store(&mut self.endpoint)?;
        Ok(())
    }

    /// Keeps the former key, which still convicts for what it signed. Refuses to forget one that
    /// a dispute may need.
    fn change_proof_key(&mut self, proof_key: &Address, now: i64) -> Result {
        if self.previous_proof_key != NONE {
            let forgettable_at = self.proof_key_changed_at() + i64::from(JOB_DECIDED_SECONDS);
            require!(now >= forgettable_at, ProofKeyInUse);
        }
        self.previous_proof_key = self.proof_key;
        self.proof_key_changed_at.set(now);
        self.proof_key = *proof_key;
        Ok(())
    }

    /// The keys that signed the proofs recorded at this time. In the second of a change both keys
    /// count. The former key counts for no later proof: it may have leaked.
    pub fn proof_keys_at(&self, proven_at: i64) -> impl Iterator<Item = &Address> {
        let changed_at = self.proof_key_changed_at();
        let was_changed = self.previous_proof_key != NONE;
        let present = (!was_changed || proven_at >= changed_at).then_some(&self.proof_key);
        let former = (was_changed && proven_at <= changed_at).then_some(&self.previous_proof_key);
        present.into_iter().chain(former)
    }

    /// Refuses anybody but the worker's authority.
    pub fn require_authority(&self, signer: &Address) -> Result {
        require!(signer == &self.authority, Unauthorized);
        Ok(())
    }

    /// Refuses a worker that left for good.
    pub fn require_registered(&self) -> Result {
        require!(!self.status.is(WorkerStatus::Deregistered), WrongWorkerStatus);
        Ok(())
    }

    /// Refuses a worker that may not be given a job for this model. Open disputes do not count:
    /// otherwise anybody could stop a worker for the price of a job.
    pub fn require_eligible(&self, model: &Address, minimum_stake_tokens: u64) -> Result {
        require!(self.status.is(WorkerStatus::Active), WorkerNotEligible);
        require!(self.unstaking_tokens() == 0, WorkerNotEligible);
        require!(self.stake_tokens() >= minimum_stake_tokens, WorkerNotEligible);
        require!(self.models().contains(model), WorkerDoesNotHostModel);
        Ok(())
    }

    pub fn host(&mut self, model: &Address) -> Result {
        self.require_registered()?;
        require!(!self.models().contains(model), AlreadyHosted);
        let length = usize::from(self.models_len);
        require!(length < MODELS_MAX, TooManyModels);
        self.models[length] = *model;
        self.models_len += 1;
        Ok(())
    }

    /// The last model takes the place of the removed one.
    pub fn unhost(&mut self, model: &Address) -> Result {
        let position = self.models().iter().position(|hosted| hosted == model);
        let Some(position) = position else {
            return Err(EscrowError::NotHosted);
        };
        let last = usize::from(self.models_len) - 1;
        self.models[position] = self.models[last];
        self.models[last] = NONE;
        self.models_len -= 1;
        Ok(())
    }

    pub fn set_suspended(&mut self, suspended: bool) -> Result {
        let (from, to) = if suspended {
            (WorkerStatus::Active, WorkerStatus::Suspended)
        } else {
            (WorkerStatus::Suspended, WorkerStatus::Active)
        };
        require!(self.status.is(from), WrongWorkerStatus);
        self.status.set(to);
        Ok(())
    }

    pub fn deregister(&mut self) -> Result {
        self.require_registered()?;
        self.status.set(WorkerStatus::Deregistered);
        Ok(())
    }

    /// A cooldown that is raised later binds no stake that is there already.
    pub fn stake(&mut self, tokens: u64, cooldown_seconds: u32) -> Result {
        self.require_registered()?;
        let total = self.stake_tokens() + self.unstaking_tokens();
        require!(tokens <= STAKE_TOKENS_MAX.saturating_sub(total), ValueOutOfRange);
        if total == 0 || cooldown_seconds < self.unstake_cooldown_seconds() {
            self.unstake_cooldown_seconds.set(cooldown_seconds);
        }
        self.stake_tokens.add(tokens)
    }

    /// Every unlock restarts the cooldown for all that is unstaking.
    pub fn unlock(&mut self, tokens: u64, now: i64) -> Result {
        require!(tokens <= self.stake_tokens(), InsufficientStake);
        self.stake_tokens.subtract(tokens)?;
        self.unstaking_tokens.add(tokens)?;
        self.unstake_ready_at.set(now + i64::from(self.unstake_cooldown_seconds()));
        Ok(())
    }

    /// Returns how many tokens leave.
    pub fn withdraw(&mut self, now: i64) -> Result<u64> {
        let tokens = self.unstaking_tokens();
        require!(tokens > 0, NothingToClaim);
        require!(now >= self.unstake_ready_at(), CooldownNotOver);
        self.unstaking_tokens.set(0);
        self.unstake_ready_at.set(0);
        Ok(tokens)
    }

    /// Takes what is there, first of the stake, then of what is unstaking; returns how much.
    pub fn slash(&mut self, tokens: u64) -> Result<u64> {
        let of_stake = tokens.min(self.stake_tokens());
        let of_unstaking = (tokens - of_stake).min(self.unstaking_tokens());
        self.stake_tokens.subtract(of_stake)?;
        self.unstaking_tokens.subtract(of_unstaking)?;
        if self.unstaking_tokens() == 0 {
            self.unstake_ready_at.set(0);
        }
        Ok(of_stake + of_unstaking)
    }

    pub fn count_settled(&mut self) -> Result {
        self.jobs_settled.add(1)
    }

    /// Pay could not be paid and stays in the vault.
    pub fn add_claimable(&mut self, base_units: u64) -> Result {
        self.claimable_base_units.add(base_units)
    }

    /// The claimable pay was paid; returns how much that was.
    pub fn pay_claimable(&mut self) -> Result<u64> {
        let base_units = self.claimable_base_units();
        require!(base_units > 0, NothingToClaim);
        self.claimable_base_units.set(0);
        Ok(base_units)
    }

    pub fn endpoint(&self) -> Text<'_> {
        Text::stored(&self.endpoint, self.endpoint_len)
    }

    fn models(&self) -> &[Address] {
        &self.models[..usize::from(self.models_len).min(MODELS_MAX)]
    }

    fn is_consistent(&self) -> bool {
        self.status.is_known()
            && usize::from(self.models_len) <= MODELS_MAX
            && self.endpoint_len >= 1
            && (self.unstaking_tokens() == 0) == (self.unstake_ready_at() == 0)
            && self.stake_tokens() <= STAKE_TOKENS_MAX
            && self.unstaking_tokens() <= STAKE_TOKENS_MAX
    }
}
