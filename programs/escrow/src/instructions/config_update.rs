//! Changes what the authority may decide; jobs in flight keep their terms.

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
        arbiter: &'a Address,
        treasury_share_basis_points: u16,
        unstake_cooldown_seconds: u32,
        open_disputes_max: u8,
        minimum_stake_tokens: u64,
        slash_tokens: u32,
        job_credits_max: u64,
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
