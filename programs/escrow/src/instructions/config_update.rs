//! Changes what the authority may decide; jobs in flight keep their terms.
//!
//! All values are replaced, so a caller repeats those that stay.
//!
//! Emits `ConfigUpdated`.
//!
//! # Errors
//! - `Unauthorized`: `authority` is not the configuration's authority
//! - `ValueOutOfRange`: An argument is out of its bounds

use pinocchio::AccountView;

use crate::{
    checks::roles::accounts,
    error::Result,
    events::ConfigUpdated,
    state::{Config, config::Terms as Arguments},
    wire::{event_writer::emit, layout::load_mut, sysvars::Clock},
};

accounts! {
    pub struct Accounts {
        authority: Signer,
        config: Writable,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let arguments = Arguments::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let config: &mut Config = load_mut(&accounts.config)?;
    config.require_authority(accounts.authority.address())?;
    let clock = Clock::get();

    config.set_terms(&arguments, clock.unix_time)?;
    config.changed()?;

    emit(
        &accounts.event_authority,
        &clock,
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
            treasury_floor_credits: config.treasury_floor_credits(),
            earlier_floor_credits: config.earlier_floor_credits(),
            earlier_floor_ends_at: config.earlier_floor_ends_at(),
        },
    );
    Ok(())
}
