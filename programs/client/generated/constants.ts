// Generated from the Rust source by programs/tools/idl.ts: do not edit.

/** How long a job may take, from its lock to its settlement. */
export const JOB_TIMEOUT_SECONDS = 120;

/** How long a settled job can be disputed. */
export const DISPUTE_WINDOW_SECONDS = 60;

/** How long the arbiter has to decide. */
export const ARBITRATION_WINDOW_SECONDS = 86_400;

/** Unlocked stake outlasts every deadline of the jobs it vouches for by this margin. */
export const UNSTAKE_MARGIN_SECONDS = 3_600;

/** After this time every job that ran has been decided, with `UNSTAKE_MARGIN_SECONDS` to spare. The shortest cooldown of stake, and the least time between two changes of a worker's proof key. */
export const JOB_DECIDED_SECONDS = 90_180;

/** A lowered floor of the treasury counts only after this: longer than any dispute lasts. */
export const TREASURY_FLOOR_NOTICE_SECONDS = 93_600;

/** How far back a job id's time may lie at the lock. */
export const JOB_ID_AGE_MS_MAX = 90_000;

/** How far ahead a job id's time may lie at the lock. */
export const JOB_ID_LEAD_MS_MAX = 30_000;

/** A Job is closed no sooner than this after its id's time. More than `JOB_ID_AGE_MS_MAX`, so no id can be locked again after its account is gone. */
export const JOB_ID_CLOSE_MS_MIN = 120_000;

/** How long a model works on after its retirement is announced. */
export const RETIREMENT_NOTICE_SECONDS = 2_592_000;

/** A credit is 0.01 of a stablecoin with 6 decimals. */
export const BASE_UNITS_PER_CREDIT = 10_000n;

export const CREDIT_MINT_DECIMALS = 6;

/** 100 percent. Equal to `BASE_UNITS_PER_CREDIT`, so that every share is exact. */
export const BASIS_POINTS = 10_000n;

/** The most credits that any account or configuration may name: their base units fit 64 bits a hundred times over. */
export const CREDITS_MAX = 10_000_000_000_000n;

/** More decimals than this and a supply of stake tokens would not fit 64 bits. */
export const STAKE_DECIMALS_MAX = 9;

/** The most whole tokens that a worker may have at stake. */
export const STAKE_TOKENS_MAX = 10_000_000_000n;

/** How many hot signers a gateway may have. */
export const SIGNERS_PER_GATEWAY_MAX = 8;

/** How many models a worker may host. */
export const MODELS_PER_WORKER_MAX = 16;

/** A spender's limit that binds nothing. A wallet has to write it; it is never a default. */
export const NO_LIMIT = 18_446_744_073_709_551_615n;

/** What every message that a worker signs as a proof begins with. */
export const PROOF_PREFIX = 'svc-proof-v2';

/** What every message begins with that a controller's signer signs as a delivery receipt. */
export const RECEIPT_PREFIX = 'svc-delivery-v2';

/** 30 days: stake cannot be held back for longer. */
export const UNSTAKE_COOLDOWN_SECONDS_MAX = 2_592_000;

/** What each address is derived from, before keys and ids. */
export const SEEDS = {
  config: 'config',
  treasury: 'treasury',
  vaultAuthority: 'vault_authority',
  vault: 'vault',
  treasuryVault: 'treasury_vault',
  stakeVault: 'stake_vault',
  eventAuthority: '__event_authority',
  gateway: 'gateway',
  creditAccount: 'credit',
  model: 'model',
  worker: 'worker',
  job: 'job',
} as const;
