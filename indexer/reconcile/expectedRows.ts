import {
  type DecodedAccount,
  gatewaySigners,
  modelText,
  workerEndpoint,
} from '../../programs/client/accounts.ts';
import type { Job, Worker } from '../../programs/client/generated/types.ts';
import type { JOB_STATUSES } from '../../programs/client/generated/vocabulary.ts';
import { keyOrNull, timeOrNull } from '../fold/change.ts';
import type { TableName, Tables } from '../fold/tables.ts';

/** The row that an account of the ledger should have in the mirror, as far as the account tells. */
interface ExpectedRow {
  readonly table: TableName;
  readonly sequence: bigint;
  readonly values: Readonly<Record<string, unknown>>;
}

export function expectedRow({ name, data }: DecodedAccount): ExpectedRow {
  const sequence = BigInt(data.sequence);
  switch (name) {
    case 'Config':
      return row('config', sequence, {
        authority: data.authority.toBase58(),
        pending_authority: keyOrNull(data.pendingAuthority.toBase58()),
        arbiter: data.arbiter.toBase58(),
        credit_mint: data.creditMint.toBase58(),
        stake_mint: data.stakeMint.toBase58(),
        vault: data.vault.toBase58(),
        treasury_vault: data.treasuryVault.toBase58(),
        stake_vault: data.stakeVault.toBase58(),
        stake_decimals: data.stakeDecimals,
        treasury_share_basis_points: data.treasuryShareBasisPoints,
        job_timeout_seconds: data.jobTimeoutSeconds,
        dispute_window_seconds: data.disputeWindowSeconds,
        arbitration_window_seconds: data.arbitrationWindowSeconds,
        unstake_cooldown_seconds: data.unstakeCooldownSeconds,
        open_disputes_max: data.openDisputesMax,
        deposits_paused: data.depositsPaused,
        locks_paused: data.locksPaused,
        minimum_stake_tokens: data.minimumStakeTokens.toString(),
        slash_tokens: data.slashTokens,
        job_credits_max: data.jobCreditsMax.toString(),
        credit_account_credits_max: data.creditAccountCreditsMax.toString(),
        treasury_floor_credits: data.treasuryFloorCredits.toString(),
        earlier_floor_credits: data.earlierFloorCredits.toString(),
        earlier_floor_ends_at: timeOrNull(data.earlierFloorEndsAt.toString()),
      });
    case 'Treasury':
      return row('treasury', sequence, {
        owed_base_units: data.owedBaseUnits.toString(),
        disputed_exposure_base_units: data.disputedExposureBaseUnits.toString(),
        slashed_stake_tokens: data.slashedStakeTokens.toString(),
        unpaid_base_units: data.unpaidBaseUnits.toString(),
      });
    case 'Gateway':
      return row('gateways', sequence, {
        operator: data.operator.toBase58(),
        signers: gatewaySigners(data).map(String),
        stopped: data.stopped,
        vouched: data.vouched,
      });
    case 'CreditAccount':
      return row('credit_accounts', sequence, {
        wallet: data.wallet.toBase58(),
        spender: keyOrNull(data.spender.toBase58()),
        limit_per_job_credits: data.limitPerJobCredits.toString(),
        limit_per_day_credits: data.limitPerDayCredits.toString(),
        spent_day: data.spentDay,
        spent_today_credits: data.spentTodayCredits.toString(),
        available_credits: data.availableCredits.toString(),
        locked_credits: data.lockedCredits.toString(),
        owed_credits: data.owedCredits.toString(),
        open_disputes: data.openDisputes,
        opened_at: data.openedAt.toString(),
        last_topup_at: timeOrNull(data.lastTopupAt.toString()),
      });
    case 'Model':
      return row('models', sequence, {
        ...modelText(data),
        tier: data.tier,
        context_window_tokens: data.contextWindowTokens,
        credits_per_request: data.creditsPerRequest,
        credits_per_1k_tokens: data.creditsPer1kTokens,
        long_completion_threshold_tokens: data.longCompletionThresholdTokens,
        created_at: data.createdAt.toString(),
        retires_at: timeOrNull(data.retiresAt.toString()),
      });
    case 'Worker':
      return row('workers', sequence, workerValues(data));
    case 'Job':
      return row('jobs', sequence, jobValues(data));
  }
}

function row<Table extends TableName>(
  table: Table,
  sequence: bigint,
  values: Partial<Tables[Table]>,
): ExpectedRow {
  return { table, sequence, values };
}

function workerValues(data: Worker): Tables['workers'] {
  return {
    authority: data.authority.toBase58(),
    proof_key: data.proofKey.toBase58(),
    payout: data.payout.toBase58(),
    endpoint: workerEndpoint(data),
    status: data.status,
    stake_tokens: data.stakeTokens.toString(),
    unstaking_tokens: data.unstakingTokens.toString(),
    unstake_ready_at: timeOrNull(data.unstakeReadyAt.toString()),
    claimable_base_units: data.claimableBaseUnits.toString(),
    jobs_settled: data.jobsSettled.toString(),
    registered_at: data.registeredAt.toString(),
    unstake_cooldown_seconds: data.unstakeCooldownSeconds,
    previous_proof_key: keyOrNull(data.previousProofKey.toBase58()),
    proof_key_changed_at: timeOrNull(data.proofKeyChangedAt.toString()),
  };
}

/** What a Job does not tell (the wallet, signatures, slots, payments) only events do. */
function jobValues(data: Job): Partial<Tables['jobs']> {
  const status = data.status;
  const outcome = data.outcome;
  const isDisputed = status === 'disputed' || outcome !== 'none';
  const isCounted = data.countedTokens > 0;
  const isRunning = ['pending', 'processing', 'settling'].includes(status);
  const after = (happened: boolean, seconds: number) =>
    happened ? (data.lockedAt + BigInt(seconds)).toString() : null;
  return {
    job_id: `job_${Buffer.from(data.jobId).toString('hex')}`,
    credit_account: data.creditAccount.toBase58(),
    controller: data.controller.toBase58(),
    model: data.model.toBase58(),
    tier: data.tier,
    status,
    attempt: data.attempt,
    outcome: outcome === 'none' ? null : outcome,
    failure_reason: status === 'failed' ? data.failureReason : null,
    token_limit: data.tokenLimit,
    credits_per_request: data.creditsPerRequest,
    credits_per_1k_tokens: data.creditsPer1kTokens,
    long_completion_threshold_tokens: data.longCompletionThresholdTokens,
    treasury_share_basis_points: data.treasuryShareBasisPoints,
    slash_tokens: data.slashTokens,
    job_timeout_seconds: data.jobTimeoutSeconds,
    dispute_window_seconds: data.disputeWindowSeconds,
    arbitration_window_seconds: data.arbitrationWindowSeconds,
    rent_payer: data.rentPayer.toBase58(),
    locked_credits: data.lockedCredits.toString(),
    charged_credits: data.chargedCredits.toString(),
    worker: keyOrNull(data.worker.toBase58()),
    ...proofValues(data, status),
    counted_tokens: isCounted ? data.countedTokens : null,
    locked_at: data.lockedAt.toString(),
    acknowledged_at: after(data.attempt > 0, data.acknowledgedAfterSeconds),
    settled_at: after(isCounted, data.endedAfterSeconds),
    ended_at: after(!isRunning, data.endedAfterSeconds),
    client_hash: isDisputed ? Buffer.from(data.clientHash).toString('hex') : null,
    disputed_at: after(isDisputed, data.disputedAfterSeconds),
    resolved_at: after(outcome !== 'none', data.resolvedAfterSeconds),
    settled_by: keyOrNull(data.settledBy.toBase58()),
    vouched: data.vouched,
    disputed_by_wallet: data.disputedByWallet,
    closed: false,
  };
}

/** A worker may prove a hash of zeros. Then a job that failed does not tell whether it was proven. */
function proofValues(data: Job, status: (typeof JOB_STATUSES)[number]): Partial<Tables['jobs']> {
  const isUnproven = status === 'pending' || status === 'processing';
  if (isUnproven) {
    return { output_hash: null, prompt_tokens: null, completion_tokens: null, proven_at: null };
  }
  const isProven =
    status === 'settling' || data.countedTokens > 0 || data.outputHash.some((byte) => byte !== 0);
  if (!isProven) return {};
  return {
    output_hash: Buffer.from(data.outputHash).toString('hex'),
    prompt_tokens: data.promptTokens,
    completion_tokens: data.completionTokens,
    proven_at: (data.lockedAt + BigInt(data.provenAfterSeconds)).toString(),
  };
}
