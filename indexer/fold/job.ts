import { creation, type Fold, update } from './change.ts';

export const foldJobLocked: Fold<'JobLocked'> = ({ data, signature, slot }) => [
  creation('jobs', data.job, {
    job_id: `job_${data.jobId}`,
    credit_account: data.creditAccount,
    wallet: data.wallet,
    controller: data.controller,
    model: data.model,
    model_id: data.modelId,
    tier: data.tier,
    status: 'pending',
    attempt: 0,
    outcome: null,
    failure_reason: null,
    token_limit: data.tokenLimit,
    credits_per_request: data.creditsPerRequest,
    credits_per_1k_tokens: data.creditsPer1kTokens,
    long_completion_threshold_tokens: data.longCompletionThresholdTokens,
    treasury_share_basis_points: data.treasuryShareBasisPoints,
    slash_tokens: data.slashTokens,
    job_timeout_seconds: data.jobTimeoutSeconds,
    dispute_window_seconds: data.disputeWindowSeconds,
    arbitration_window_seconds: data.arbitrationWindowSeconds,
    rent_payer: data.rentPayer,
    locked_credits: data.lockedCredits,
    charged_credits: 0,
    worker: null,
    output_hash: null,
    prompt_tokens: null,
    completion_tokens: null,
    counted_tokens: null,
    locked_at: data.unixTime,
    acknowledged_at: null,
    proven_at: null,
    settled_at: null,
    ended_at: null,
    escrow_tx: signature,
    escrow_slot: slot,
    settlement_tx: null,
    settlement_slot: null,
    refund_tx: null,
    client_hash: null,
    dispute_tx: null,
    disputed_at: null,
    arbitration_ends_at: null,
    resolution_tx: null,
    resolved_at: null,
    worker_base_units: null,
    treasury_base_units: null,
    settled_by: null,
    vouched: data.vouched,
    disputed_by_wallet: false,
    closed: false,
  }),
  update(
    'credit_accounts',
    { address: data.creditAccount, sequence: data.creditSequence },
    {
      available_credits: data.availableCredits,
      locked_credits: data.accountLockedCredits,
      spent_day: data.spentDay,
      spent_today_credits: data.spentTodayCredits,
    },
  ),
];

/** A later attempt puts the proof of the one before aside. */
const UNPROVEN = {
  output_hash: null,
  prompt_tokens: null,
  completion_tokens: null,
  proven_at: null,
};

export const foldJobAcknowledged: Fold<'JobAcknowledged'> = ({ data }) => [
  update(
    'jobs',
    { address: data.job, sequence: data.jobSequence },
    {
      status: 'processing',
      worker: data.worker,
      attempt: data.attempt,
      acknowledged_at: data.unixTime,
      ...UNPROVEN,
    },
  ),
];

export const foldJobProven: Fold<'JobProven'> = ({ data }) => [
  update(
    'jobs',
    { address: data.job, sequence: data.jobSequence },
    {
      status: 'settling',
      output_hash: data.outputHash,
      prompt_tokens: data.promptTokens,
      completion_tokens: data.completionTokens,
      proven_at: data.unixTime,
    },
  ),
];

export const foldJobSettled: Fold<'JobSettled'> = ({ data, signature, slot }, addresses) => {
  const changes = [
    update(
      'jobs',
      { address: data.job, sequence: data.jobSequence },
      {
        status: 'settled',
        charged_credits: data.chargedCredits,
        counted_tokens: data.countedTokens,
        settled_at: data.unixTime,
        ended_at: data.unixTime,
        settlement_tx: signature,
        settlement_slot: slot,
        worker_base_units: data.workerBaseUnits,
        treasury_base_units: data.treasuryBaseUnits,
        settled_by: data.settledBy,
      },
    ),
    update(
      'credit_accounts',
      { address: data.creditAccount, sequence: data.creditSequence },
      { available_credits: data.availableCredits, locked_credits: data.accountLockedCredits },
    ),
    update(
      'workers',
      { address: data.worker, sequence: data.workerSequence },
      { claimable_base_units: data.workerClaimableBaseUnits, jobs_settled: data.jobsSettled },
    ),
  ];
  // A share that was paid went to a token account and left the treasury's books alone.
  if (data.treasuryPaid) return changes;
  const treasury = update(
    'treasury',
    { address: addresses.treasury.toBase58(), sequence: data.treasurySequence },
    { unpaid_base_units: data.treasuryUnpaidBaseUnits },
  );
  return [...changes, treasury];
};

export const foldJobFailed: Fold<'JobFailed'> = ({ data, signature }) => [
  update(
    'jobs',
    { address: data.job, sequence: data.jobSequence },
    {
      status: 'failed',
      failure_reason: data.reason,
      ended_at: data.unixTime,
      refund_tx: signature,
    },
  ),
  update(
    'credit_accounts',
    { address: data.creditAccount, sequence: data.creditSequence },
    { available_credits: data.availableCredits, locked_credits: data.accountLockedCredits },
  ),
];

export const foldJobRefunded: Fold<'JobRefunded'> = ({ data, signature }) => [
  update(
    'jobs',
    { address: data.job, sequence: data.jobSequence },
    { status: 'refunded', ended_at: data.unixTime, refund_tx: signature },
  ),
  update(
    'credit_accounts',
    { address: data.creditAccount, sequence: data.creditSequence },
    { available_credits: data.availableCredits, locked_credits: data.accountLockedCredits },
  ),
];

/** The account is gone from the ledger; its row stays, since the job is still asked for. */
export const foldJobClosed: Fold<'JobClosed'> = ({ data }) => [
  update('jobs', { address: data.job, sequence: data.jobSequence }, { closed: true }),
];

export const foldJobDisputed: Fold<'JobDisputed'> = ({ data, signature }, addresses) => [
  update(
    'jobs',
    { address: data.job, sequence: data.jobSequence },
    {
      status: 'disputed',
      client_hash: data.clientHash,
      disputed_by_wallet: data.disputedByWallet,
      dispute_tx: signature,
      disputed_at: data.unixTime,
      arbitration_ends_at: data.arbitrationEndsAt,
    },
  ),
  update(
    'credit_accounts',
    { address: data.creditAccount, sequence: data.creditSequence },
    { open_disputes: data.openDisputes },
  ),
  update(
    'treasury',
    { address: addresses.treasury.toBase58(), sequence: data.treasurySequence },
    { disputed_exposure_base_units: data.disputedExposureBaseUnits },
  ),
];

/** The wallet's own hash takes the place of its controller's; everything else stays. */
export const foldDisputeAmended: Fold<'DisputeAmended'> = ({ data }) => [
  update(
    'jobs',
    { address: data.job, sequence: data.jobSequence },
    { client_hash: data.clientHash, disputed_by_wallet: true },
  ),
];

export const foldDisputeResolved: Fold<'DisputeResolved'> = ({ data, signature }, addresses) => {
  const outcome = data.verdict;
  const changes = [
    update(
      'jobs',
      { address: data.job, sequence: data.jobSequence },
      {
        outcome,
        resolution_tx: signature,
        resolved_at: data.unixTime,
        ...(outcome === 'rejected'
          ? { status: 'settled' }
          : { status: 'refunded', charged_credits: data.chargedCredits }),
      },
    ),
    update(
      'credit_accounts',
      { address: data.creditAccount, sequence: data.creditSequence },
      { owed_credits: data.owedCredits, open_disputes: data.openDisputes },
    ),
    update(
      'treasury',
      { address: addresses.treasury.toBase58(), sequence: data.treasurySequence },
      {
        owed_base_units: data.owedBaseUnits,
        disputed_exposure_base_units: data.disputedExposureBaseUnits,
        slashed_stake_tokens: data.slashedStakeTokens,
      },
    ),
  ];
  if (data.slashedTokens === '0') return changes;
  const worker = update(
    'workers',
    { address: data.worker, sequence: data.workerSequence },
    {
      stake_tokens: data.stakeTokens,
      unstaking_tokens: data.unstakingTokens,
      // With nothing left to wait for, the program ends the cooldown.
      ...(data.unstakingTokens === '0' && { unstake_ready_at: null }),
    },
  );
  return [...changes, worker];
};

export const foldDisputeExpired: Fold<'DisputeExpired'> = ({ data, signature }, addresses) => [
  update(
    'jobs',
    { address: data.job, sequence: data.jobSequence },
    {
      status: 'settled',
      outcome: 'expired',
      resolution_tx: signature,
      resolved_at: data.unixTime,
    },
  ),
  update(
    'credit_accounts',
    { address: data.creditAccount, sequence: data.creditSequence },
    { open_disputes: data.openDisputes },
  ),
  update(
    'treasury',
    { address: addresses.treasury.toBase58(), sequence: data.treasurySequence },
    { disputed_exposure_base_units: data.disputedExposureBaseUnits },
  ),
];
