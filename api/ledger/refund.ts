import type { TransactionInstruction } from '@solana/web3.js';
import { delay } from '../../common/wait.ts';
import { isEnded } from '../../programs/client/accounts.ts';
import type { FailureReason, JobStatus } from '../../programs/client/generated/vocabulary.ts';
import { jobFail, jobRefund } from '../../programs/client/instructions.ts';
import type { JobEnd, LockedJob } from '../jobs/job.ts';
import { actor, type LedgerContext, readJob, unlessAway } from './context.ts';

/**
 * While no node answers, each takes more than a second: together longer than the 15 s for which a
 * client's error waits for its credits. After that the keeper refunds.
 */
const TRIES_MAX = 20;
const PAUSE_MS = 300;
const NO_HASH = new Uint8Array(32);

/** What is needed of a job to end it. */
type EndableJob = Pick<LockedJob, 'id' | 'address' | 'creditAccount' | 'wallet'> & {
  deadlines: Pick<LockedJob['deadlines'], 'refundableAt'>;
};

/**
 * Ends the job without a charge. A job whose time is over is refunded instead.
 *
 * @param record.acknowledgement names the worker that had the job; the job fails without it where
 *   the ledger refuses that
 */
export async function failJob(
  context: LedgerContext,
  job: EndableJob,
  reason: Exclude<FailureReason, 'none'>,
  record: {
    delivered?: { hash: Uint8Array; countedTokens: number };
    acknowledgement?: TransactionInstruction | undefined;
  } = {},
): Promise<JobEnd> {
  const { delivered = { hash: NO_HASH, countedTokens: 0 }, acknowledgement } = record;
  if (context.clock.nowSeconds() >= job.deadlines.refundableAt) return refundJob(context, job);
  const instruction = jobFail({
    ...actor(context),
    job: job.address,
    creditAccount: job.creditAccount,
    reason: reason,
    deliveredHash: delivered.hash,
    countedTokens: delivered.countedTokens,
  });
  const before = acknowledgement ? [acknowledgement] : [];
  return exit(context, job, { before, instruction, signers: [context.signer], to: 'failed' });
}

/** Gives the credits back after the job's time; anybody may, so nobody has to sign for it. */
export async function refundJob(context: LedgerContext, job: EndableJob): Promise<JobEnd> {
  const instruction = jobRefund({
    programId: context.addresses.programId,
    job: job.address,
    creditAccount: job.creditAccount,
  });
  return exit(context, job, { before: [], instruction, signers: [], to: 'refunded' });
}

/** Sends until the Job is final, whoever made it so. @throws when the ledger stays undecided */
async function exit(
  context: LedgerContext,
  job: EndableJob,
  move: {
    /** What goes with the first try alone. */
    before: TransactionInstruction[];
    instruction: TransactionInstruction;
    signers: LedgerContext['signer'][];
    to: JobStatus;
  },
): Promise<JobEnd> {
  const { exits, clock } = context;
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const sending = exits.add({
      instructions: tries === 0 ? [...move.before, move.instruction] : [move.instruction],
      signers: move.signers,
      key: job.wallet,
    });
    const outcome = await sending.catch(unlessAway);
    if (outcome?.status === 'landed') return { status: move.to, signature: outcome.signature };
    const found = outcome && (await readJob(context, job.address, outcome).catch(unlessAway));
    if (found === undefined) {
      await delay(PAUSE_MS, undefined, context.time);
      continue;
    }
    // Only a final job can have been closed; how it ended is the mirror's to tell.
    if (!found) return { status: move.to, signature: null, isClosed: true };
    const status = found.status;
    if (isEnded(status)) return { status, signature: null };
    if (move.to === 'failed' && clock.nowSeconds() >= job.deadlines.refundableAt) {
      return refundJob(context, job);
    }
    await delay(PAUSE_MS, undefined, context.time);
  }
  throw new Error(`job ${job.id} could not be ${move.to}`);
}
