import { BASE_UNITS_PER_CREDIT } from '../../../../../programs/client/generated/constants.ts';
import { AUTHORITY, CHARGED_CREDITS, type Instruction, LOCKED_CREDITS } from '../programState.ts';
import { accountOf } from './credit.ts';
import { balancesOf, COUNTS, jobOf, move } from './job.ts';

const TREASURY_SHARE_BASE_UNITS = 4_500n;
const WORKER_SHARE_BASE_UNITS = CHARGED_CREDITS * BASE_UNITS_PER_CREDIT - TREASURY_SHARE_BASE_UNITS;

/** @param paid who can be paid at once; the others' shares are noted */
export const settle =
  (jobId: string, paid: { worker: boolean; treasury: boolean }): Instruction =>
  (state, now) => {
    const moved = move(state, jobId, ['settling']);
    const worker = moved && state.workers.get(moved.job.worker);
    if (!worker) return null;
    const { job, account } = moved;
    const { treasury } = state;
    job.status = 'settled';
    account.sequence += 1n;
    account.lockedCredits -= LOCKED_CREDITS;
    account.availableCredits += LOCKED_CREDITS - CHARGED_CREDITS;
    worker.sequence += 1n;
    worker.jobsSettled += 1n;
    if (!paid.worker) worker.claimableBaseUnits += WORKER_SHARE_BASE_UNITS;
    if (!paid.treasury) {
      treasury.sequence += 1n;
      treasury.unpaidBaseUnits += TREASURY_SHARE_BASE_UNITS;
    }
    return {
      name: 'JobSettled',
      data: {
        ...{ ...now, ...jobOf(job), ...accountOf(account), ...balancesOf(account), ...COUNTS },
        ...{ worker: worker.worker, workerSequence: `${worker.sequence}`, settledBy: AUTHORITY },
        ...{ outputHash: jobId.repeat(2), countedTokens: 599 },
        chargedCredits: `${CHARGED_CREDITS}`,
        returnedCredits: `${LOCKED_CREDITS - CHARGED_CREDITS}`,
        ...{ workerBaseUnits: `${WORKER_SHARE_BASE_UNITS}`, workerPaid: paid.worker },
        ...{ treasuryBaseUnits: `${TREASURY_SHARE_BASE_UNITS}`, treasuryPaid: paid.treasury },
        workerClaimableBaseUnits: `${worker.claimableBaseUnits}`,
        jobsSettled: `${worker.jobsSettled}`,
        treasurySequence: `${treasury.sequence}`,
        treasuryUnpaidBaseUnits: `${treasury.unpaidBaseUnits}`,
      },
    };
  };

/** Ends a job without a charge. */
export const giveBack =
  (jobId: string, name: 'JobFailed' | 'JobRefunded'): Instruction =>
  (state, now) => {
    const moved = move(state, jobId, ['pending', 'processing', 'settling']);
    if (!moved) return null;
    const { job, account } = moved;
    job.status = name === 'JobFailed' ? 'failed' : 'refunded';
    account.sequence += 1n;
    account.lockedCredits -= LOCKED_CREDITS;
    account.availableCredits += LOCKED_CREDITS;
    const data = {
      ...{ ...now, ...jobOf(job), ...accountOf(account), ...balancesOf(account) },
      returnedCredits: `${LOCKED_CREDITS}`,
    };
    return name === 'JobFailed'
      ? { name, data: { ...data, reason: 'worker_error' } }
      : { name, data };
  };

export const close =
  (jobId: string): Instruction =>
  (state, now) => {
    const moved = move(state, jobId, ['settled', 'failed', 'refunded']);
    if (!moved) return null;
    moved.job.isClosed = true;
    const data = { ...now, ...jobOf(moved.job), rentPayer: AUTHORITY, rentLamports: '1' };
    return { name: 'JobClosed', data };
  };
