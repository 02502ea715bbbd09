import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { delay, type Time } from '../../common/wait.ts';
import { fetchWorker, isEnded } from '../../programs/client/accounts.ts';
import type { EscrowErrorName, Job } from '../../programs/client/generated/types.ts';
import { jobAcknowledge, jobComplete, jobSettle } from '../../programs/client/instructions.ts';
import { publicKeyOf } from '../../programs/client/keys.ts';
import { COSTS, type InstructionCost } from '../../programs/client/sender/costs.ts';
import {
  mayPass,
  type SendResult,
  WithdrawnError,
} from '../../programs/client/sender/sendResult.ts';
import { actor, ignoreUnavailable, type LedgerContext, readJob, retryRead } from './context.ts';
import type { JobResult, LockedJob, SettleResult } from './job.ts';
import { failContradicted, isContradicted, isOfAttempt, type ProvenAnswer } from './proof.ts';
import { failOnLedger } from './refundOnLedger.ts';

interface Announced {
  /** Built when it is sent, so that the worker is asked without that delay. */
  instruction: () => TransactionInstruction;
  isConfirmed: boolean;
}

export type Acknowledgements = ReturnType<typeof createAcknowledgements>;

/** Announces on the ledger which worker was asked. No request waits for it. */
export function createAcknowledgements(context: LedgerContext) {
  const { acknowledgements, logger, signer } = context;
  const announced = new Map<string, Announced>();

  return {
    announce(job: LockedJob, workerAddress: string, attempt: number): void {
      const instruction = () =>
        jobAcknowledge({
          ...actor(context),
          job: job.address,
          worker: publicKeyOf(workerAddress),
          attempt,
        });
      const mine: Announced = { instruction, isConfirmed: false };
      // The announcement of an earlier worker is of no use any more.
      acknowledgements.take(job.id);
      announced.set(job.id, mine);
      const sending = { instructions: () => [instruction()], costs: [COSTS.job_acknowledge] };
      acknowledgements.add({ ...sending, signers: [signer], key: job.id }).then(
        (result) => {
          mine.isConfirmed = result.status === 'landed';
        },
        (error: unknown) => {
          // The job's end contains it.
          logger.warn({ msg: 'Failed to send an acknowledgement', job_id: job.id, err: error });
        },
      );
    },
    /** Takes back one that was not sent yet: a settlement contains it. */
    withdraw(job: LockedJob): void {
      acknowledgements.take(job.id);
    },
    /**
     * The acknowledgement that a job's failure has to carry, taken back as by `withdraw`. Undefined
     * when the ledger has confirmed it.
     */
    collect(job: LockedJob): TransactionInstruction | undefined {
      acknowledgements.take(job.id);
      const last = announced.get(job.id);
      return last?.isConfirmed ? undefined : last?.instruction();
    },
    /** Withdraws it, and forgets the job. */
    forget(job: LockedJob): void {
      acknowledgements.take(job.id);
      announced.delete(job.id);
    },
  };
}

/** Between two tries while the ledger is out of reach, or its blocks are full; doubled each time. */
const PAUSE_MS_MIN = 500;
const PAUSE_MS_MAX = 5_000;

/** The program's errors for a worker that left, or changed its key, while it answered. */
const LEFT: ReadonlySet<string> = new Set<EscrowErrorName>([
  'WorkerNotEligible',
  'WorkerDoesNotHostModel',
  'SignatureInvalid',
]);

/**
 * Settles by one `job_complete`, which names the worker, proves the answer and charges for it. It is
 * sent again while there is time, in these cases:
 *
 * - it expired, or its fate is unknown
 * - no fee payer could pay for it, or blocks are full
 * - the worker's payout account has changed, also where it has changed back since
 * - somebody has recorded a proof alone: `job_settle` charges for this one, and a new
 *   acknowledgement puts that of an earlier attempt aside
 *
 * A job whose worker has recorded another proof of its attempt is failed.
 *
 * After any other refusal the Job decides: a repeat that took this process for dead may have failed
 * the job before.
 */
export async function settleOnLedger(
  context: LedgerContext,
  acknowledgements: Acknowledgements,
  options: {
    job: LockedJob;
    answer: ProvenAnswer;
    countedTokens: number;
    /** Nothing is sent before it resolves. */
    kept: Promise<void>;
  },
): Promise<SettleResult> {
  const { clock, logger } = context;
  const { job, answer } = options;
  // From the mirror, which may be behind.
  let payout = publicKeyOf(answer.reservation.worker.payout);
  /** The Job, where a proof alone was in the way. */
  let proven: Job | undefined;

  const isInTime = () => clock.nowSeconds() < job.deadlines.proofDueAt;
  const pause = createPause(context.time);
  acknowledgements.withdraw(job);
  while (isInTime()) {
    // Built while the answer is being stored.
    const settlement = composeSettlement(context, { ...options, payout, proven });
    await options.kept;
    const result = await send(context, { ...settlement, isWanted: isInTime });
    if (result === 'withdrawn') continue;
    if (result?.status === 'landed') return { status: 'settled', signature: result.signature };
    // If an earlier one has landed after all, the ledger refuses this one, and the Job is settled.
    const found = result && (await readJob(context, job.address, result).catch(ignoreUnavailable));
    if (found === undefined) {
      logger.warn({ msg: 'The ledger was away from a settlement', job_id: job.id });
      await pause();
      continue;
    }
    if (!found || isEnded(found.status)) {
      return { status: found ? found.status : 'settled', signature: null };
    }
    if (result?.status !== 'failed') continue;
    if (!isInTime()) break;
    const { error } = result;
    if (error.name === 'ProofAlreadyGiven') {
      proven = found.status === 'settling' ? found : undefined;
      if (proven && (await isContradicted(context, proven, options))) {
        return failContradicted(context, proven, options);
      }
      continue;
    }
    if (error.name === 'WrongAddress') {
      const present = await readPayout(context, answer, result).catch(ignoreUnavailable);
      if (!present || present.equals(payout)) await pause();
      payout = present ?? payout;
      continue;
    }
    logger.error({ msg: 'The ledger refused a settlement', job_id: job.id, err: error });
    if (mayPass(error)) {
      await pause();
      continue;
    }
    const acknowledgement = acknowledgements.collect(job);
    return failRefused(context, options, { refusal: error.name, found, acknowledgement });
  }
  return { status: 'overdue' };
}

/** Fails a job whose settlement the ledger refuses for good. */
async function failRefused(
  context: LedgerContext,
  { job, answer, countedTokens }: { job: LockedJob; answer: ProvenAnswer; countedTokens: number },
  seen: { refusal: string; found: Job; acknowledgement: TransactionInstruction | undefined },
): Promise<JobResult> {
  const delivered = { hash: answer.proof.outputHash, countedTokens };
  if (LEFT.has(seen.refusal)) {
    const end = await failOnLedger(context, job, 'worker_error', { delivered });
    return end.status === 'failed' ? { ...end, hasWorkerLeft: true } : end;
  }
  // In `settling` the worker proved another text than it delivered.
  const reason = seen.found.status === 'settling' ? 'output_mismatch' : 'worker_error';
  return failOnLedger(context, job, reason, { delivered, acknowledgement: seen.acknowledgement });
}

/** Waits between two tries, longer each time. */
function createPause(time: Time): () => Promise<void> {
  let pauseMs = PAUSE_MS_MIN;
  return async () => {
    await delay(pauseMs, undefined, time);
    pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX);
  };
}

/** @returns undefined while the ledger is out of reach */
async function send(
  { settlements }: LedgerContext,
  item: Parameters<LedgerContext['settlements']['add']>[0],
): Promise<SendResult | 'withdrawn' | undefined> {
  try {
    return await settlements.add(item);
  } catch (error) {
    return error instanceof WithdrawnError ? 'withdrawn' : ignoreUnavailable(error);
  }
}

/** Where the worker is paid now. @throws LedgerUnavailableError */
async function readPayout(
  context: LedgerContext,
  { reservation: { worker } }: ProvenAnswer,
  { slot: minContextSlot }: SendResult,
): Promise<PublicKey> {
  const { connection, commitment, addresses } = context;
  const reading = { commitment, minContextSlot, programId: addresses.programId };
  const address = publicKeyOf(worker.address);
  const found = await retryRead(context, () => fetchWorker(connection, address, reading));
  return found?.payout ?? publicKeyOf(worker.payout);
}

/**
 * A settlement's part of a transaction. After a fault, those of the same worker go alone for a while.
 *
 * @param options.proven the Job with a proof that somebody has recorded alone
 */
function composeSettlement(
  context: LedgerContext,
  options: {
    job: LockedJob;
    answer: ProvenAnswer;
    countedTokens: number;
    payout: PublicKey;
    proven: Job | undefined;
  },
) {
  const { job, answer, countedTokens, payout, proven } = options;
  const { proof, attempt } = answer;
  const worker = publicKeyOf(answer.reservation.worker.address);
  const parties = {
    ...actor(context),
    job: job.address,
    creditAccount: job.creditAccount,
    worker,
    workerPayout: payout,
    countedTokens,
  };
  const item = (instructions: TransactionInstruction[], costs: InstructionCost[]) => ({
    instructions,
    costs,
    signers: [context.signer],
    key: answer.reservation.worker.address,
  });
  if (proven && isOfAttempt(proven, answer)) {
    const settle = jobSettle({ ...parties, deliveredHash: proof.outputHash });
    return item([settle], [COSTS.job_settle]);
  }
  const complete = jobComplete({ ...parties, ...proof, attempt });
  if (!proven) return item([complete], [COSTS.job_complete]);
  const acknowledge = jobAcknowledge({ ...parties, attempt });
  return item([acknowledge, complete], [COSTS.job_acknowledge, COSTS.job_complete]);
}
