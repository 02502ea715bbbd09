import {
  ARBITRATION_WINDOW_SECONDS,
  BASE_UNITS_PER_CREDIT,
} from '../../../programs/client/generated/constants.ts';
import type { DisputeOutcome } from '../../../programs/client/generated/vocabulary.ts';
import { accountOf } from './credit.ts';
import { jobOf, move } from './job.ts';
import { CHARGED_CREDITS, type Instruction } from './programState.ts';

const CHARGED_BASE_UNITS = CHARGED_CREDITS * BASE_UNITS_PER_CREDIT;
const SLASH_TOKENS = 500n;
/** The treasury's share, rounded down. */
const TREASURY_CREDITS = (CHARGED_CREDITS * 15n) / 100n;

/** Of a job that no verdict was given on before. */
export const dispute =
  (jobId: string): Instruction =>
  (state, now) => {
    if (state.jobs.get(jobId)?.isDecided) return null;
    const moved = move(state, jobId, ['settled']);
    if (!moved) return null;
    const { job, account } = moved;
    const { treasury } = state;
    job.status = 'disputed';
    account.sequence += 1n;
    account.openDisputes += 1;
    treasury.sequence += 1n;
    treasury.exposureBaseUnits += CHARGED_BASE_UNITS;
    return {
      name: 'JobDisputed',
      data: {
        ...{ ...now, ...jobOf(job), ...accountOf(account), worker: job.worker },
        ...{ clientHash: 'ff'.repeat(32), outputHash: jobId.repeat(2) },
        ...{ chargedCredits: `${CHARGED_CREDITS}`, repayableCredits: `${CHARGED_CREDITS}` },
        ...{ disputedByWallet: false, openDisputes: account.openDisputes },
        treasurySequence: `${treasury.sequence}`,
        disputedExposureBaseUnits: `${treasury.exposureBaseUnits}`,
        arbitrationEndsAt: `${Number(now.unixTime) + ARBITRATION_WINDOW_SECONDS}`,
      },
    };
  };

export const resolve =
  (jobId: string, verdict: DisputeOutcome): Instruction =>
  (state, now) => {
    const moved = move(state, jobId, ['disputed']);
    const worker = moved && state.workers.get(moved.job.worker);
    if (!worker) return null;
    const { job, account } = moved;
    const { treasury } = state;
    const wanted = verdict === 'upheld_worker' ? SLASH_TOKENS : 0n;
    const slashed = worker.stakeTokens < wanted ? worker.stakeTokens : wanted;
    const upheld = slashed < wanted ? TREASURY_CREDITS : CHARGED_CREDITS;
    const repaidCredits = verdict === 'rejected' ? 0n : upheld;
    job.status = verdict === 'rejected' ? 'settled' : 'refunded';
    job.isDecided = true;
    account.sequence += 1n;
    account.openDisputes -= 1;
    account.owedCredits += repaidCredits;
    treasury.sequence += 1n;
    treasury.exposureBaseUnits -= CHARGED_BASE_UNITS;
    treasury.owedBaseUnits += repaidCredits * BASE_UNITS_PER_CREDIT;
    treasury.slashedTokens += slashed;
    if (slashed > 0n) worker.sequence += 1n;
    worker.stakeTokens -= slashed;
    return {
      name: 'DisputeResolved',
      data: {
        ...{ ...now, ...jobOf(job), ...accountOf(account), worker: worker.worker, verdict },
        ...{ workerSequence: `${worker.sequence}`, treasurySequence: `${treasury.sequence}` },
        ...{ evidenceHash: 'ee'.repeat(32), repaidCredits: `${repaidCredits}` },
        chargedCredits: `${CHARGED_CREDITS - repaidCredits}`,
        ...{ owedCredits: `${account.owedCredits}`, openDisputes: account.openDisputes },
        owedBaseUnits: `${treasury.owedBaseUnits}`,
        disputedExposureBaseUnits: `${treasury.exposureBaseUnits}`,
        ...{ slashedTokens: `${slashed}`, slashedStakeTokens: `${treasury.slashedTokens}` },
        ...{ stakeTokens: `${worker.stakeTokens}`, unstakingTokens: '0' },
      },
    };
  };

export const expire =
  (jobId: string): Instruction =>
  (state, now) => {
    const moved = move(state, jobId, ['disputed']);
    if (!moved) return null;
    const { job, account } = moved;
    const { treasury } = state;
    job.status = 'settled';
    job.isDecided = true;
    account.sequence += 1n;
    account.openDisputes -= 1;
    treasury.sequence += 1n;
    treasury.exposureBaseUnits -= CHARGED_BASE_UNITS;
    return {
      name: 'DisputeExpired',
      data: {
        ...{ ...now, ...jobOf(job), ...accountOf(account), openDisputes: account.openDisputes },
        treasurySequence: `${treasury.sequence}`,
        disputedExposureBaseUnits: `${treasury.exposureBaseUnits}`,
      },
    };
  };
