import type { TransactionInstruction } from '@solana/web3.js';
import { delay } from '../../common/wait.ts';
import { isEnded } from '../../programs/client/accounts.ts';
import type { FailureReason, JobStatus } from '../../programs/client/generated/vocabulary.ts';
import { jobFail, jobRefund } from '../../programs/client/instructions.ts';
import { COSTS, type InstructionCost } from '../../programs/client/sender/costs.ts';
import { mayPass } from '../../programs/client/sender/sendResult.ts';
import { actor, ignoreUnavailable, type LedgerContext, readJob } from './context.ts';
import type { JobResult, LockedJob } from './job.ts';

/** What is needed of a job to end it. */
type EndableJob = Pick<LockedJob, 'id' | 'address' | 'creditAccount' | 'wallet'> & {
  deadlines: Pick<LockedJob['deadlines'], 'refundableAt'>;
};

const NO_HASH = new Uint8Array(32);

/**
 * Ends the job without a charge. A job whose time is over is refunded instead.
 *
 * @param record.acknowledgement names the worker that had the job; the job fails without it where
 *   the ledger refuses that
 */
export async function failOnLedger(
  context: LedgerContext,
  job: EndableJob,
  reason: Exclude<FailureReason, 'none'>,
  record: {
    delivered?: { hash: Uint8Array; countedTokens: number };
    acknowledgement?: TransactionInstruction | undefined;
  } = {},
): Promise<JobResult> {
  const { delivered = { hash: NO_HASH, countedTokens: 0 }, acknowledgement } = record;
  if (context.clock.nowSeconds() >= job.deadlines.refundableAt) return refundOnLedger(context, job);
  const instruction = jobFail({
    ...actor(context),
    job: job.address,
    creditAccount: job.creditAccount,
    reason,
    deliveredHash: delivered.hash,
    countedTokens: delivered.countedTokens,
  });
  const before = acknowledgement ? [acknowledgement] : [];
  const sending = { before, instruction, cost: COSTS.job_fail, signers: [context.signer] };
  return exit(context, job, { ...sending, to: 'failed' });
}

/** Gives the credits back after the job's time. Anybody may, so it needs no signature of ours. */
export async function refundOnLedger(context: LedgerContext, job: EndableJob): Promise<JobResult> {
  const instruction = jobRefund({
    programId: context.addresses.programId,
    job: job.address,
    creditAccount: job.creditAccount,
  });
  const sending = { before: [], instruction, cost: COSTS.job_refund, signers: [] };
  return exit(context, job, { ...sending, to: 'refunded' });
}

/**
 * While no node answers, each try takes more than a second. Together they take longer than the 15 s
 * for which a client's error waits for its credits. After that the keeper refunds.
 */
const TRIES_MAX = 20;
const PAUSE_MS = 300;

/** Sends until the Job is final, by this or another process. @throws while the Job stays open */
async function exit(
  context: LedgerContext,
  job: EndableJob,
  move: {
    /** The acknowledgement that goes with it until the ledger refuses that, if any. */
    before: TransactionInstruction[];
    instruction: TransactionInstruction;
    cost: InstructionCost;
    signers: LedgerContext['signer'][];
    to: JobStatus;
  },
): Promise<JobResult> {
  const { exits, clock } = context;
  let { before } = move;
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const sending = exits.add({
      instructions: [...before, move.instruction],
      costs: [...before.map(() => COSTS.job_acknowledge), move.cost],
      signers: move.signers,
      key: job.wallet,
    });
    const result = await sending.catch(ignoreUnavailable);
    if (result?.status === 'landed') return { status: move.to, signature: result.signature };
    if (result?.status === 'failed' && !mayPass(result.error)) before = [];
    const found = result && (await readJob(context, job.address, result).catch(ignoreUnavailable));
    if (found === undefined) {
      await delay(PAUSE_MS, undefined, context.time);
      continue;
    }
    // Only a final job can have been closed. The mirror has how it ended.
    if (!found) return { status: move.to, signature: null, isClosed: true };
    const status = found.status;
    if (isEnded(status)) return { status, signature: null };
    if (move.to === 'failed' && clock.nowSeconds() >= job.deadlines.refundableAt) {
      return refundOnLedger(context, job);
    }
    await delay(PAUSE_MS, undefined, context.time);
  }
  throw new Error(`job ${job.id} could not be ${move.to}`);
}
