//! Changes what the authority may decide; jobs in flight keep their terms.
//!
//! All values are replaced, so a caller repeats those that stay.
//!
//! Emits `ConfigUpdated`.
//!
//! # Errors
//! - `Unauthorized`: `authority` is not the configuration's authority
//! - `ValueOutOfRange`: An argument is out of its bounds

use pinocchio::{AccountView, Address};

use crate::{
    arguments::arguments,
    error::Result,
    event_writer::emit,
    events::ConfigUpdated,
    layout::load_mut,
    roles::accounts,
    state::{Config, config::Terms},
    sysvars::Clock,
};

arguments! {
    pub struct Arguments<'a> {
        /// Decides disputes; neither the zero key nor the authority
        arbiter: &'a Address,
        /// The treasury's part of each charge, at most `BASIS_POINTS`
        treasury_share_basis_points: u16,
        /// At least 90,180: a job's timeout, its two windows and `UNSTAKE_MARGIN_SECONDS`. At most
        /// `UNSTAKE_COOLDOWN_SECONDS_MAX`
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
    }
}

accounts! {
    pub struct Accounts {
        authority: Signer,
        config: Writable,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

impl<'a> Arguments<'a> {
    fn terms(&self) -> Terms<'a> {
        Terms {
            arbiter: self.arbiter,
            treasury_share_basis_points: self.treasury_share_basis_points,
            unstake_cooldown_seconds: self.unstake_cooldown_seconds,
            open_disputes_max: self.open_disputes_max,
            minimum_stake_tokens: self.minimum_stake_tokens,
            slash_tokens: self.slash_tokens,
            job_credits_max: self.job_credits_max,
            credit_account_credits_max: self.credit_account_credits_max,
        }
    }
}

#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let arguments = Arguments::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let config: &mut Config = load_mut(&accounts.config)?;
    config.require_authority(accounts.authority.address())?;

    config.set_terms(&arguments.terms())?;
    config.changed()?;

    emit(
        &accounts.event_authority,
        &Clock::get(),
        &ConfigUpdated {
            config_sequence: config.sequence(),
            authority: config.authority(),
            arbiter: config.arbiter(),
            credit_mint: config.credit_mint(),
            stake_mint: config.stake_mint(),
            treasury_share_basis_points: config.treasury_share_basis_points(),
            unstake_cooldown_seconds: config.unstake_cooldown_seconds(),
            open_disputes_max: config.open_disputes_max(),
            minimum_stake_tokens: config.minimum_stake_tokens(),
            slash_tokens: config.slash_tokens(),
            job_credits_max: config.job_credits_max(),
            credit_account_credits_max: config.credit_account_credits_max(),
        },
    );
    Ok(())
}
