import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { delay } from '../../common/wait.ts';
import { fetchWorker, isEnded } from '../../programs/client/accounts.ts';
import type { EscrowErrorName } from '../../programs/client/generated/types.ts';
import {
  ed25519Instruction,
  jobAcknowledge,
  jobProve,
  jobSettle,
} from '../../programs/client/instructions.ts';
import { publicKeyOf } from '../../programs/client/keys.ts';
import { proofMessage } from '../../programs/client/proof.ts';
import { mayPass, type Outcome, WithdrawnError } from '../../programs/client/sender/outcome.ts';
import type { JobEnd, LockedJob, ProvenAnswer, SettleEnd } from '../jobs/job.ts';
import {
  actor,
  type LedgerContext,
  readJob,
  retryRead,
  SETTLEMENT_COMPUTE_UNITS_MAX,
  unlessAway,
} from './context.ts';
import { failJob } from './refund.ts';

/** Announces on the ledger which worker was asked, without anybody waiting for it. */
export interface Acknowledgements {
  announce(job: LockedJob, workerAddress: string, attempt: number): void;
  /**
   * The acknowledgement that a job's end has to carry: undefined when the ledger has confirmed it.
   * One that was not sent yet is withdrawn, so that it is paid for once.
   */
  collect(job: LockedJob): TransactionInstruction | undefined;
  /** Forgets the job. */
  forget(job: LockedJob): void;
}

interface Announced {
  /** Built when it is sent: the worker, who is asked next, does not wait for that. */
  instruction: () => TransactionInstruction;
  isConfirmed: boolean;
}

export function createAcknowledgements(context: LedgerContext): Acknowledgements {
  const { acknowledgements, logger, signer } = context;
  const announced = new Map<string, Announced>();

  return {
    announce(job, workerAddress, attempt) {
      const instruction = () =>
        jobAcknowledge({
          ...actor(context),
          job: job.address,
          worker: publicKeyOf(workerAddress),
          attempt,
        });
      const mine: Announced = { instruction, isConfirmed: false };
      // Of an earlier worker nobody needs to hear any more.
      acknowledgements.take(job.id);
      announced.set(job.id, mine);
      const instructions = () => [instruction()];
      acknowledgements.add({ instructions, signers: [signer], key: job.id }).then(
        (outcome) => {
          mine.isConfirmed = outcome.status === 'landed';
        },
        (error: unknown) => {
          // The settlement carries it instead.
          logger.warn({ msg: 'Failed to send an acknowledgement', job_id: job.id, err: error });
        },
      );
    },
    collect(job) {
      acknowledgements.take(job.id);
      const last = announced.get(job.id);
      return last?.isConfirmed ? undefined : last?.instruction();
    },
    forget(job) {
      acknowledgements.take(job.id);
      announced.delete(job.id);
    },
  };
}

/** Between two tries while the ledger is out of reach, or takes nothing: longer each time. */
const PAUSE_MS_MIN = 500;
const PAUSE_MS_MAX = 5_000;

/** The program's words for a worker that left, or changed its key, while it answered. */
const LEFT: ReadonlySet<string> = new Set<EscrowErrorName>([
  'WorkerNotEligible',
  'WorkerDoesNotHostModel',
  'ProofWrongKey',
]);

/**
 * Proves and settles in one transaction, which carries the acknowledgement too when that is not
 * confirmed yet. One that expired, or whose fate the ledger does not tell, is sent again while there
 * is time; so is one that was refused because nobody could pay for it, because blocks are full, or
 * because the worker is paid elsewhere since. Any other refused one is decided by what the Job says:
 * a repeat, which took this process for gone, may have failed the job before.
 */
export async function settleJob(
  context: LedgerContext,
  acknowledgements: Acknowledgements,
  options: {
    job: LockedJob;
    answer: ProvenAnswer;
    countedTokens: number;
    /** Nothing is sent before it resolves. */
    kept: Promise<void>;
  },
): Promise<SettleEnd> {
  const { clock, logger, sender } = context;
  const { job, answer, countedTokens } = options;
  const delivered = { hash: answer.proof.outputHash, countedTokens };
  // As the mirror has it, which may be behind.
  let payout = publicKeyOf(answer.reservation.worker.payout);

  const isInTime = () => clock.nowSeconds() < job.deadlines.proofDueAt;

  let pauseMs = PAUSE_MS_MIN;
  async function pause(): Promise<void> {
    await delay(pauseMs, undefined, context.time);
    pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX);
  }

  while (isInTime()) {
    // Built while the answer is being kept.
    const instructions = settlementInstructions(context, acknowledgements, { ...options, payout });
    await options.kept;
    const sending = sender.send({
      instructions,
      signers: [context.signer],
      computeUnitLimit: SETTLEMENT_COMPUTE_UNITS_MAX,
      lane: 'settlements',
      isWanted: isInTime,
    });
    const outcome = await sending.catch(withdrawnOrAway);
    if (outcome === 'withdrawn') continue;
    // Should one have landed that the ledger does not tell of, it refuses the next, and the Job says why.
    const found = outcome && (await readEnd(context, job, outcome));
    if (!found) {
      logger.warn({ msg: 'The ledger was away from a settlement', job_id: job.id });
      await pause();
      continue;
    }
    if (isEnded(found.status)) return found;
    if (outcome.status !== 'failed') continue;
    if (!isInTime()) break;
    if (outcome.error.name === 'WrongAddress') {
      const present = await readPayout(context, answer, outcome).catch(unlessAway);
      const isNews = !present?.equals(payout);
      payout = present ?? payout;
      if (isNews) continue;
    }
    logger.error({ msg: 'The ledger refused a settlement', job_id: job.id, err: outcome.error });
    if (mayPass(outcome.error)) {
      await pause();
      continue;
    }
    if (LEFT.has(outcome.error.name)) {
      const end = await failJob(context, job, 'worker_error', { delivered });
      return end.status === 'failed' ? { ...end, hasWorkerLeft: true } : end;
    }
    // In `settling` the worker proved another text than it delivered.
    return failJob(context, job, found.status === 'settling' ? 'output_mismatch' : 'worker_error', {
      delivered,
      acknowledgement: acknowledgements.collect(job),
    });
  }
  return { status: 'overdue' };
}

function withdrawnOrAway(error: unknown): 'withdrawn' | undefined {
  return error instanceof WithdrawnError ? 'withdrawn' : unlessAway(error);
}

/** Where the job stands after a settlement's end; undefined where the ledger does not tell. */
async function readEnd(
  context: LedgerContext,
  job: LockedJob,
  outcome: Outcome,
): Promise<JobEnd | undefined> {
  const { status, signature } = outcome;
  if (status === 'landed') return { status: 'settled', signature };
  const found = await readJob(context, job.address, outcome).catch(unlessAway);
  if (found === undefined) return undefined;
  return { status: found ? found.status : 'settled', signature: null };
}

/** Where the worker is paid now. @throws LedgerUnavailableError */
async function readPayout(
  context: LedgerContext,
  { reservation: { worker } }: ProvenAnswer,
  { slot: minContextSlot }: Outcome,
): Promise<PublicKey> {
  const { connection, commitment, addresses } = context;
  const reading = { commitment, minContextSlot, programId: addresses.programId };
  const address = publicKeyOf(worker.address);
  const found = await retryRead(context, () => fetchWorker(connection, address, reading));
  return found?.payout ?? publicKeyOf(worker.payout);
}

function settlementInstructions(
  context: LedgerContext,
  acknowledgements: Acknowledgements,
  options: { job: LockedJob; answer: ProvenAnswer; countedTokens: number; payout: PublicKey },
) {
  const { job, answer, countedTokens, payout } = options;
  const { proof, reservation, attempt } = answer;
  const { programId } = context.addresses;
  const worker = publicKeyOf(reservation.worker.address);
  const acknowledgement = acknowledgements.collect(job);
  const before = acknowledgement ? [acknowledgement] : [];
  return [
    ...before,
    ed25519Instruction({
      publicKey: publicKeyOf(reservation.worker.proof_key),
      signature: proof.signature,
      message: proofMessage({ programId, job: job.address, worker, attempt, ...proof }),
    }),
    jobProve({
      programId,
      job: job.address,
      worker,
      ed25519InstructionIndex: before.length,
      outputHash: proof.outputHash,
      promptTokens: proof.promptTokens,
      completionTokens: proof.completionTokens,
    }),
    jobSettle({
      ...actor(context),
      job: job.address,
      creditAccount: job.creditAccount,
      worker,
      workerPayout: payout,
      deliveredHash: proof.outputHash,
      countedTokens,
    }),
  ];
}
