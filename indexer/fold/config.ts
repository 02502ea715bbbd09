import { creation, type Fold, keyOrNull, timeOrNull, update } from './change.ts';

export const foldConfigInitialized: Fold<'ConfigInitialized'> = ({ data }, addresses) => [
  creation('config', addresses.config.toBase58(), {
    authority: data.authority,
    pending_authority: null,
    arbiter: data.arbiter,
    credit_mint: data.creditMint,
    stake_mint: data.stakeMint,
    vault: data.vault,
    treasury_vault: data.treasuryVault,
    stake_vault: data.stakeVault,
    stake_decimals: data.stakeDecimals,
    treasury_share_basis_points: data.treasuryShareBasisPoints,
    job_timeout_seconds: data.jobTimeoutSeconds,
    dispute_window_seconds: data.disputeWindowSeconds,
    arbitration_window_seconds: data.arbitrationWindowSeconds,
    unstake_cooldown_seconds: data.unstakeCooldownSeconds,
    open_disputes_max: data.openDisputesMax,
    deposits_paused: false,
    locks_paused: false,
    minimum_stake_tokens: data.minimumStakeTokens,
    slash_tokens: data.slashTokens,
    job_credits_max: data.jobCreditsMax,
    credit_account_credits_max: data.creditAccountCreditsMax,
    treasury_floor_credits: data.treasuryFloorCredits,
    earlier_floor_credits: 0,
    earlier_floor_ends_at: null,
  }),
  creation('treasury', addresses.treasury.toBase58(), {
    owed_base_units: 0,
    disputed_exposure_base_units: 0,
    slashed_stake_tokens: 0,
    unpaid_base_units: 0,
  }),
];

export const foldConfigUpdated: Fold<'ConfigUpdated'> = ({ data }, addresses) => [
  update(
    'config',
    { address: addresses.config.toBase58(), sequence: data.configSequence },
    {
      authority: data.authority,
      arbiter: data.arbiter,
      treasury_share_basis_points: data.treasuryShareBasisPoints,
      unstake_cooldown_seconds: data.unstakeCooldownSeconds,
      open_disputes_max: data.openDisputesMax,
      minimum_stake_tokens: data.minimumStakeTokens,
      slash_tokens: data.slashTokens,
      job_credits_max: data.jobCreditsMax,
      credit_account_credits_max: data.creditAccountCreditsMax,
      treasury_floor_credits: data.treasuryFloorCredits,
      earlier_floor_credits: data.earlierFloorCredits,
      earlier_floor_ends_at: timeOrNull(data.earlierFloorEndsAt),
    },
  ),
];

export const foldAuthorityProposed: Fold<'AuthorityProposed'> = ({ data }, addresses) => [
  update(
    'config',
    { address: addresses.config.toBase58(), sequence: data.configSequence },
    { pending_authority: keyOrNull(data.pendingAuthority) },
  ),
];

export const foldAuthorityAccepted: Fold<'AuthorityAccepted'> = ({ data }, addresses) => [
  update(
    'config',
    { address: addresses.config.toBase58(), sequence: data.configSequence },
    { authority: data.authority, pending_authority: null },
  ),
];

export const foldPauseSet: Fold<'PauseSet'> = ({ data }, addresses) => [
  update(
    'config',
    { address: addresses.config.toBase58(), sequence: data.configSequence },
    { deposits_paused: data.depositsPaused, locks_paused: data.locksPaused },
  ),
];

export const foldGatewayOpened: Fold<'GatewayOpened'> = ({ data }) => [
  creation('gateways', data.gateway, {
    operator: data.operator,
    signers: data.signers,
    stopped: data.stopped,
    vouched: false,
  }),
];

export const foldGatewayUpdated: Fold<'GatewayUpdated'> = ({ data }) => [
  update(
    'gateways',
    { address: data.gateway, sequence: data.gatewaySequence },
    { signers: data.signers, stopped: data.stopped },
  ),
];

export const foldGatewayVouched: Fold<'GatewayVouched'> = ({ data }) => [
  update(
    'gateways',
    { address: data.gateway, sequence: data.gatewaySequence },
    { vouched: data.vouched },
  ),
];

export const foldSlashBurned: Fold<'SlashBurned'> = ({ data }, addresses) => [
  update(
    'treasury',
    { address: addresses.treasury.toBase58(), sequence: data.treasurySequence },
    { slashed_stake_tokens: data.slashedStakeTokens },
  ),
];
