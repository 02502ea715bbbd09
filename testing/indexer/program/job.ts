import {
  ARBITRATION_WINDOW_SECONDS,
  DISPUTE_WINDOW_SECONDS,
  JOB_TIMEOUT_SECONDS,
} from '../../../programs/client/generated/constants.ts';
import { accountOf } from './credit.ts';
import {
  AUTHORITY,
  type CreditAccount,
  type Instruction,
  type JobAccount,
  LOCKED_CREDITS,
  MODEL,
  PRICE,
  type ProgramState,
} from './programState.ts';

/** What a worker proves of its answer. */
export function answerOf({ jobId }: JobAccount) {
  return { outputHash: jobId.repeat(2), promptTokens: 10, completionTokens: 600 };
}

/** The proof, of whose attempt it is. */
export function proofOf(job: JobAccount) {
  const { worker, attempt, jobId } = job;
  const statement = `${'ab'.repeat(16)}${jobId}`;
  return { ...answerOf(job), worker, attempt, proofKey: worker, statement };
}

/** Which job an event is about, at its sequence. */
export function jobOf({ job, jobId, sequence }: JobAccount) {
  return { job, jobId, jobSequence: sequence };
}

/** The balances as job events have them. */
export function balancesOf({ availableCredits, lockedCredits }: CreditAccount) {
  return {
    availableCredits: `${availableCredits}`,
    accountLockedCredits: `${lockedCredits}`,
    spentTodayCredits: '0',
  };
}

/** A job, with its wallet's account. */
export interface Moved {
  readonly job: JobAccount;
  readonly account: CreditAccount;
}

/** A job in one of these statuses, moved on by one. */
export function move(
  { jobs, wallets }: ProgramState,
  id: string,
  from: readonly JobAccount['status'][],
): Moved | null {
  const job = jobs.get(id);
  const account = job && wallets.get(job.wallet);
  if (!account || !from.includes(job.status) || job.isClosed) return null;
  job.sequence += 1;
  return { job, account };
}

export const lock =
  (jobId: string, wallet: string): Instruction =>
  ({ wallets, jobs }, now) => {
    const account = wallets.get(wallet);
    if (!account || account.availableCredits < LOCKED_CREDITS || jobs.has(jobId)) return null;
    const state = { status: 'pending', isDecided: false, isClosed: false } as const;
    const job = {
      ...{ ...state, jobId, job: `job ${jobId}`, wallet, worker: '', sequence: 1, attempt: 0 },
    };
    jobs.set(jobId, job);
    account.sequence += 1n;
    account.availableCredits -= LOCKED_CREDITS;
    account.lockedCredits += LOCKED_CREDITS;
    return {
      name: 'JobLocked',
      data: {
        ...{ ...now, ...jobOf(job), ...accountOf(account), ...balancesOf(account), ...PRICE },
        ...{ controller: wallet, model: MODEL.address, modelId: MODEL.id, tier: MODEL.tier },
        ...{ tokenLimit: 2_000, treasuryShareBasisPoints: 1_500, slashTokens: 500 },
        jobTimeoutSeconds: JOB_TIMEOUT_SECONDS,
        disputeWindowSeconds: DISPUTE_WINDOW_SECONDS,
        arbitrationWindowSeconds: ARBITRATION_WINDOW_SECONDS,
        rentPayer: AUTHORITY,
        vouched: true,
        lockedCredits: `${LOCKED_CREDITS}`,
        ...{ limitDay: 0, spentDay: 0 },
      },
    };
  };

export const acknowledge =
  (jobId: string, worker: string): Instruction =>
  (state, now) => {
    if (!state.workers.has(worker)) return null;
    const isProven = state.jobs.get(jobId)?.status === 'settling';
    const moved = move(state, jobId, ['pending', 'processing', 'settling']);
    if (!moved) return null;
    const { job } = moved;
    const voided = {
      voidedWorker: isProven ? job.worker : '',
      voidedAttempt: isProven ? job.attempt : 0,
      voidedOutputHash: isProven ? jobId.repeat(2) : '0'.repeat(64),
    };
    job.status = 'processing';
    job.worker = worker;
    job.attempt += 1;
    return {
      name: 'JobAcknowledged',
      data: { ...now, ...jobOf(job), worker, attempt: job.attempt, ...voided },
    };
  };

export const prove =
  (jobId: string): Instruction =>
  (state, now) => {
    const moved = move(state, jobId, ['processing']);
    if (!moved) return null;
    const { job } = moved;
    job.status = 'settling';
    return { name: 'JobProven', data: { ...now, ...jobOf(job), ...proofOf(job) } };
  };
