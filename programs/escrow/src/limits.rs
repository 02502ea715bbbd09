//! What no configuration changes.

use crate::error::{Result, require};

/// How long a job may take, from its lock to its settlement.
pub const JOB_TIMEOUT_SECONDS: u16 = 120;
/// How long a settled job can be disputed.
pub const DISPUTE_WINDOW_SECONDS: u16 = 60;
/// How long the arbiter has to decide.
pub const ARBITRATION_WINDOW_SECONDS: u32 = 24 * 60 * 60;
/// Unlocked stake outlasts every deadline of the jobs it vouches for by this margin.
pub const UNSTAKE_MARGIN_SECONDS: u32 = 60 * 60;
/// After this time every job that ran has been decided, with `UNSTAKE_MARGIN_SECONDS` to spare. The
/// shortest cooldown of stake, and the least time between two changes of a worker's proof key.
pub const JOB_DECIDED_SECONDS: u32 = JOB_TIMEOUT_SECONDS as u32
    + DISPUTE_WINDOW_SECONDS as u32
    + ARBITRATION_WINDOW_SECONDS
    + UNSTAKE_MARGIN_SECONDS;
/// A lowered floor of the treasury counts only after this: longer than any dispute lasts.
pub const TREASURY_FLOOR_NOTICE_SECONDS: u32 = 26 * 60 * 60;
const _: () = assert!(TREASURY_FLOOR_NOTICE_SECONDS > JOB_DECIDED_SECONDS);

/// How far back a job id's time may lie at the lock.
pub const JOB_ID_AGE_MS_MAX: u32 = 90_000;
/// How far ahead a job id's time may lie at the lock.
pub const JOB_ID_LEAD_MS_MAX: u32 = 30_000;
/// A Job is closed no sooner than this after its id's time. More than `JOB_ID_AGE_MS_MAX`, so no
/// id can be locked again after its account is gone.
pub const JOB_ID_CLOSE_MS_MIN: u32 = 120_000;
const _: () = assert!(JOB_ID_CLOSE_MS_MIN > JOB_ID_AGE_MS_MAX);

/// How long a model works on after its retirement is announced.
pub const RETIREMENT_NOTICE_SECONDS: u32 = 30 * 24 * 60 * 60;

/// A credit is 0.01 of a stablecoin with 6 decimals.
pub const BASE_UNITS_PER_CREDIT: u64 = 10_000;
pub const CREDIT_MINT_DECIMALS: u8 = 6;
/// 100 percent. Equal to `BASE_UNITS_PER_CREDIT`, so that every share is exact.
pub const BASIS_POINTS: u64 = 10_000;
const _: () = assert!(BASIS_POINTS == BASE_UNITS_PER_CREDIT);

/// The most credits that any account or configuration may name: their base units fit 64 bits a
/// hundred times over.
pub const CREDITS_MAX: u64 = 10_000_000_000_000;
const _: () = assert!(CREDITS_MAX <= u64::MAX / BASE_UNITS_PER_CREDIT / 100);

/// What credits are worth in the vault.
pub fn base_units(credits: u64) -> Result<u64> {
    require!(credits <= CREDITS_MAX, ArithmeticOverflow);
    Ok(credits * BASE_UNITS_PER_CREDIT)
}

/// A share of what credits are worth. Exact, since a credit has as many base units as there are
/// basis points in a whole.
pub fn share_base_units(credits: u64, basis_points: u16) -> Result<u64> {
    require!(credits <= CREDITS_MAX, ArithmeticOverflow);
    Ok(credits * u64::from(basis_points))
}

/// More decimals than this and a supply of stake tokens would not fit 64 bits.
pub const STAKE_DECIMALS_MAX: u8 = 9;
/// The most whole tokens that a worker may have at stake.
pub const STAKE_TOKENS_MAX: u64 = 10_000_000_000;
const _: () = assert!(STAKE_TOKENS_MAX <= u64::MAX / 10_u64.pow(STAKE_DECIMALS_MAX as u32));
/// How many hot signers a gateway may have.
pub const SIGNERS_PER_GATEWAY_MAX: u8 = 8;
/// How many models a worker may host.
pub const MODELS_PER_WORKER_MAX: u8 = 16;
/// A spender's limit that binds nothing. A wallet has to write it; it is never a default.
pub const NO_LIMIT: u64 = u64::MAX;

/// What every message that a worker signs as a proof begins with.
pub const PROOF_PREFIX: &[u8; 12] = b"svc-proof-v2";
/// What every message begins with that a controller's signer signs as a delivery receipt.
pub const RECEIPT_PREFIX: &[u8; 15] = b"svc-delivery-v2";

/// 30 days: stake cannot be held back for longer.
pub const UNSTAKE_COOLDOWN_SECONDS_MAX: u32 = 30 * 24 * 60 * 60;
