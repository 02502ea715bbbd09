//! What the operator decides for everybody. Read by jobs, written only by governance.

use pinocchio::Address;

use crate::{
    error::{Result, require},
    limits::{
        ARBITRATION_WINDOW_SECONDS, BASIS_POINTS, CREDITS_MAX, DISPUTE_WINDOW_SECONDS,
        JOB_DECIDED_SECONDS, JOB_TIMEOUT_SECONDS, STAKE_DECIMALS_MAX, STAKE_TOKENS_MAX,
        TREASURY_FLOOR_NOTICE_SECONDS, UNSTAKE_COOLDOWN_SECONDS_MAX,
    },
    seeds::{
        BUMP, CONFIG_ADDRESS, NONE, STAKE_VAULT_ADDRESS, TREASURY_VAULT_ADDRESS, VAULT_ADDRESS,
    },
    wire::{
        arguments::arguments,
        layout::layout,
        little_endian::{Flag, I64, U16, U32, U64},
    },
};

/// The one configuration of the program
#[repr(C)]
pub struct Config {
    discriminator: [u8; 8],
    version: u8,
    bump: u8,
    /// Grows by one with every change
    sequence: U64,
    /// Governs everything but verdicts
    authority: Address,
    /// Becomes the authority once it accepts; zero when none is proposed
    pending_authority: Address,
    /// Decides disputes and suspends workers; never the authority
    arbiter: Address,
    /// The stablecoin that credits are bought with
    credit_mint: Address,
    /// The service's own token, which workers stake
    stake_mint: Address,
    /// Holds every credit's stablecoin
    vault: Address,
    /// Holds the treasury's share
    treasury_vault: Address,
    /// Holds stakes, unstaking tokens and slashed tokens
    stake_vault: Address,
    vault_authority_bump: u8,
    stake_decimals: u8,
    /// The treasury's part of each charge, in hundredths of a percent
    treasury_share_basis_points: U16,
    job_timeout_seconds: U32,
    dispute_window_seconds: U32,
    arbitration_window_seconds: U32,
    /// How long unlocked stake stays within reach of a verdict
    unstake_cooldown_seconds: U32,
    /// How many open disputes a controller may bring a wallet to; the wallet itself may go up to
    /// twice as many, 255 at most
    open_disputes_max: u8,
    deposits_paused: Flag,
    locks_paused: Flag,
    /// Whole tokens below which a worker is given no job
    minimum_stake_tokens: U64,
    /// Whole tokens that a verdict against a worker takes
    slash_tokens: U32,
    /// The most that one job may lock
    job_credits_max: U64,
    /// The most that one credit account may hold
    credit_account_credits_max: U64,
    /// What a withdrawal leaves in the treasury vault besides its debts
    treasury_floor_credits: U64,
    /// The higher floor that still counts until `earlier_floor_ends_at`; zero when there was none
    earlier_floor_credits: U64,
    earlier_floor_ends_at: I64,
    reserved: [u8; 40],
}

layout! {
    Config at CONFIG_ADDRESS {
        sequence: u64,
        numbers {
            treasury_share_basis_points: u16,
            unstake_cooldown_seconds: u32,
            minimum_stake_tokens: u64,
            slash_tokens: u32,
            job_credits_max: u64,
            credit_account_credits_max: u64,
            treasury_floor_credits: u64,
            earlier_floor_credits: u64,
            earlier_floor_ends_at: i64,
        }
        bytes { open_disputes_max: u8, }
        references {
            authority: Address,
            pending_authority: Address,
            arbiter: Address,
            credit_mint: Address,
            stake_mint: Address,
        }
    }
}

arguments! {
    /// What the authority decides: the arguments of `config_initialize` and `config_update`.
    pub struct Terms<'a> {
        /// Decides disputes; neither the zero key nor the authority
        arbiter: &'a Address,
        /// The treasury's part of each charge, at most `BASIS_POINTS`
        treasury_share_basis_points: u16,
        /// From `JOB_DECIDED_SECONDS` to `UNSTAKE_COOLDOWN_SECONDS_MAX`
        unstake_cooldown_seconds: u32,
        /// How many open disputes a controller may bring a wallet to, at least 1
        open_disputes_max: u8,
        /// A worker with less is given no job; from 1 to `STAKE_TOKENS_MAX`
        minimum_stake_tokens: u64,
        /// What a verdict against a worker takes, at most `minimum_stake_tokens`
        slash_tokens: u32,
        /// The most that one job may lock, from 1 to `CREDITS_MAX`
        job_credits_max: u64,
        /// The most that one credit account may hold, from 1 to `CREDITS_MAX`
        credit_account_credits_max: u64,
        /// What a withdrawal leaves in the treasury vault besides its debts, at most `CREDITS_MAX`.
        /// Lowered, it counts only after `TREASURY_FLOOR_NOTICE_SECONDS`
        treasury_floor_credits: u64,
    }
}

/// What is fixed when the configuration is created.
pub struct Mints<'a> {
    pub credit_mint: &'a Address,
    pub stake_mint: &'a Address,
    pub stake_decimals: u8,
}

/// The stake mint's base units of one whole token, by its decimals.
const POWERS_OF_TEN: [u64; STAKE_DECIMALS_MAX as usize + 1] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

impl Config {
    pub fn open(&mut self, authority: &Address, mints: &Mints, terms: &Terms, now: i64) -> Result {
        self.authority = *authority;
        self.credit_mint = *mints.credit_mint;
        self.stake_mint = *mints.stake_mint;
        self.stake_decimals = mints.stake_decimals;
        self.vault = VAULT_ADDRESS;
        self.treasury_vault = TREASURY_VAULT_ADDRESS;
        self.stake_vault = STAKE_VAULT_ADDRESS;
        self.vault_authority_bump = BUMP;
        self.job_timeout_seconds.set(u32::from(JOB_TIMEOUT_SECONDS));
        self.dispute_window_seconds.set(u32::from(DISPUTE_WINDOW_SECONDS));
        self.arbitration_window_seconds.set(ARBITRATION_WINDOW_SECONDS);
        self.set_terms(terms, now)
    }

    /// Refuses terms outside their ranges.
    pub fn set_terms(&mut self, terms: &Terms, now: i64) -> Result {
        require!(terms.arbiter != &NONE && terms.arbiter != &self.authority, ValueOutOfRange);
        require!(u64::from(terms.treasury_share_basis_points) <= BASIS_POINTS, ValueOutOfRange);
        require!(
            (JOB_DECIDED_SECONDS..=UNSTAKE_COOLDOWN_SECONDS_MAX)
                .contains(&terms.unstake_cooldown_seconds),
            ValueOutOfRange
        );
        require!(terms.open_disputes_max >= 1, ValueOutOfRange);
        require!((1..=STAKE_TOKENS_MAX).contains(&terms.minimum_stake_tokens), ValueOutOfRange);
        require!(u64::from(terms.slash_tokens) <= terms.minimum_stake_tokens, ValueOutOfRange);
        require!((1..=CREDITS_MAX).contains(&terms.job_credits_max), ValueOutOfRange);
        require!((1..=CREDITS_MAX).contains(&terms.credit_account_credits_max), ValueOutOfRange);
        require!(terms.treasury_floor_credits <= CREDITS_MAX, ValueOutOfRange);

        self.arbiter = *terms.arbiter;
        self.treasury_share_basis_points.set(terms.treasury_share_basis_points);
        self.unstake_cooldown_seconds.set(terms.unstake_cooldown_seconds);
        self.open_disputes_max = terms.open_disputes_max;
        self.minimum_stake_tokens.set(terms.minimum_stake_tokens);
        self.slash_tokens.set(terms.slash_tokens);
        self.job_credits_max.set(terms.job_credits_max);
        self.credit_account_credits_max.set(terms.credit_account_credits_max);
        self.set_treasury_floor(terms.treasury_floor_credits, now);
        Ok(())
    }

    /// The floor that counts now: the higher one of before for as long as its notice runs.
    /// Otherwise an authority could empty the treasury before anybody sees that it means to.
    pub fn treasury_floor_in_force_credits(&self, now: i64) -> u64 {
        let floor = self.treasury_floor_credits();
        if now < self.earlier_floor_ends_at() {
            floor.max(self.earlier_floor_credits())
        } else {
            floor
        }
    }

    fn set_treasury_floor(&mut self, credits: u64, now: i64) {
        if credits < self.treasury_floor_credits() {
            let earlier = self.treasury_floor_in_force_credits(now);
            self.earlier_floor_credits.set(earlier);
            self.earlier_floor_ends_at.set(now + i64::from(TREASURY_FLOOR_NOTICE_SECONDS));
        }
        self.treasury_floor_credits.set(credits);
    }

    /// Refuses anybody but the authority.
    pub fn require_authority(&self, signer: &Address) -> Result {
        require!(signer == &self.authority, Unauthorized);
        Ok(())
    }

    /// Refuses anybody but the arbiter.
    pub fn require_arbiter(&self, signer: &Address) -> Result {
        require!(signer == &self.arbiter, Unauthorized);
        Ok(())
    }

    pub fn propose_authority(&mut self, pending_authority: &Address) -> Result {
        require!(pending_authority != &self.arbiter, ValueOutOfRange);
        self.pending_authority = *pending_authority;
        Ok(())
    }

    pub fn accept_authority(&mut self, signer: &Address) -> Result {
        require!(self.pending_authority != NONE, NoPendingAuthority);
        require!(signer == &self.pending_authority, Unauthorized);
        require!(signer != &self.arbiter, ValueOutOfRange);
        self.authority = *signer;
        self.pending_authority = NONE;
        Ok(())
    }

    pub fn set_paused(&mut self, deposits: bool, locks: bool) {
        self.deposits_paused.set(deposits);
        self.locks_paused.set(locks);
    }

    pub fn deposits_paused(&self) -> bool {
        self.deposits_paused.get()
    }

    pub fn locks_paused(&self) -> bool {
        self.locks_paused.get()
    }

    /// The stake mint's base units of whole tokens.
    pub fn stake_base_units(&self, tokens: u64) -> Result<u64> {
        require!(tokens <= STAKE_TOKENS_MAX, ArithmeticOverflow);
        // Cannot wrap: STAKE_TOKENS_MAX and STAKE_DECIMALS_MAX are chosen so that the product fits.
        Ok(tokens.wrapping_mul(POWERS_OF_TEN[usize::from(self.stake_decimals)]))
    }

    fn is_consistent(&self) -> bool {
        self.authority != NONE
            && self.arbiter != NONE
            && self.arbiter != self.authority
            && u64::from(self.slash_tokens.get()) <= self.minimum_stake_tokens.get()
            && self.unstake_cooldown_seconds.get() >= JOB_DECIDED_SECONDS
            && self.treasury_floor_credits() <= CREDITS_MAX
            && self.earlier_floor_credits() <= CREDITS_MAX
            && u64::from(self.treasury_share_basis_points.get()) <= BASIS_POINTS
            && self.stake_decimals <= STAKE_DECIMALS_MAX
    }
}
