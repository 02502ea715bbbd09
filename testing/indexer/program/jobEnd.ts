import { BASE_UNITS_PER_CREDIT } from '../../../programs/client/generated/constants.ts';
import { accountOf } from './credit.ts';
import { answerOf, balancesOf, jobOf, type Moved, move, proofOf } from './job.ts';
import {
  AUTHORITY,
  CHARGED_CREDITS,
  type Instruction,
  LOCKED_CREDITS,
  type ProgramState,
} from './programState.ts';

const TREASURY_SHARE_BASE_UNITS = 4_500n;
const WORKER_SHARE_BASE_UNITS = CHARGED_CREDITS * BASE_UNITS_PER_CREDIT - TREASURY_SHARE_BASE_UNITS;

/** Who can be paid at once; the others' shares are noted. */
interface Paid {
  readonly worker: boolean;
  readonly treasury: boolean;
}

export const settle =
  (jobId: string, paid: Paid): Instruction =>
  (state, now) => {
    const moved = move(state, jobId, ['settling']);
    return moved && { name: 'JobSettled', data: { ...now, ...charge(state, moved, paid) } };
  };

/** Of the recorded attempt where the worker has it, else of the next. */
export const complete =
  (jobId: string, worker: string, paid: Paid): Instruction =>
  (state, now) => {
    if (!state.workers.has(worker)) return null;
    const moved = move(state, jobId, ['pending', 'processing']);
    if (!moved) return null;
    const { job } = moved;
    if (job.worker !== worker) job.attempt += 1;
    job.worker = worker;
    const data = { ...now, ...proofOf(job), ...charge(state, moved, paid) };
    return { name: 'JobCompleted', data };
  };

/** Charges a job for its worker's answer. @returns what the event of that says */
function charge(state: ProgramState, { job, account }: Moved, paid: Paid) {
  const worker = state.workers.get(job.worker);
  if (!worker) throw new Error(`${job.jobId} has no worker`);
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
    ...{ ...jobOf(job), ...accountOf(account), ...balancesOf(account), ...answerOf(job) },
    ...{ worker: worker.worker, workerSequence: `${worker.sequence}`, settledBy: AUTHORITY },
    countedTokens: 599,
    chargedCredits: `${CHARGED_CREDITS}`,
    returnedCredits: `${LOCKED_CREDITS - CHARGED_CREDITS}`,
    ...{ workerBaseUnits: `${WORKER_SHARE_BASE_UNITS}`, workerPaid: paid.worker },
    ...{ treasuryBaseUnits: `${TREASURY_SHARE_BASE_UNITS}`, treasuryPaid: paid.treasury },
    workerClaimableBaseUnits: `${worker.claimableBaseUnits}`,
    jobsSettled: `${worker.jobsSettled}`,
    treasurySequence: `${treasury.sequence}`,
    treasuryUnpaidBaseUnits: `${treasury.unpaidBaseUnits}`,
  };
}

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
