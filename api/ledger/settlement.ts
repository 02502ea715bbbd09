import { jobProve, jobSettle } from '../../programs/client/instructions/index.ts';
import { ed25519Instruction, proofMessage } from '../../programs/client/proof.ts';
import { publicKeyOf } from '../../programs/client/publicKeyOf.ts';
import { LedgerUnavailableError, WithdrawnError } from '../../programs/client/sender/outcome.ts';
import { isEnded, JOB_STATUSES, word } from '../../programs/client/vocabulary.ts';
import { delay } from '../../runtime/wait.ts';
import type { ProvenAnswer } from '../completion/attempt.ts';
import type { Acknowledgements } from './acknowledgements.ts';
import { SETTLEMENT_COMPUTE_UNITS_MAX } from './computeUnits.ts';
import { actor, type LedgerContext, readJob } from './context.ts';
import type { LockedJob, SettleEnd } from './escrow.ts';
import { failJob } from './exits.ts';

/** Between two tries while the ledger is out of reach. */
const AWAY_PAUSE_MS = 500;

/**
 * Proves and settles in one transaction, which carries the acknowledgement too when that is not
 * confirmed yet. One that expired, or whose fate the ledger does not tell, is sent again while there
 * is time; a refused one is decided by what the Job says.
 */
export async function settleJob(
  context: LedgerContext,
  acknowledgements: Acknowledgements,
  options: { job: LockedJob; answer: ProvenAnswer; countedTokens: number },
): Promise<SettleEnd> {
  const { clock, logger, sender } = context;
  const { job, answer, countedTokens } = options;
  const delivered = { hash: answer.proof.outputHash, countedTokens };

  const isInTime = () => clock.nowSeconds() < job.deadlines.proofDueAt;

  while (isInTime()) {
    const sending = sender.send({
      instructions: settlementInstructions(context, acknowledgements, options),
      signers: [context.signer],
      computeUnitLimit: SETTLEMENT_COMPUTE_UNITS_MAX,
      lane: 'settlements',
      isWanted: isInTime,
    });
    const outcome = await sending.catch(undecided);
    if (outcome === 'withdrawn') break;
    if (!outcome) {
      // Should the one before have landed, the ledger refuses the next, and the Job says why.
      logger.warn({ msg: 'The ledger was away from a settlement', job_id: job.id });
      await delay(AWAY_PAUSE_MS);
      continue;
    }
    if (outcome.status === 'confirmed') return { status: 'settled', signature: outcome.signature };
    const found = await readJob(context, job.address, outcome.slot);
    const status = found ? word(JOB_STATUSES, found.status) : 'settled';
    if (isEnded(status)) return { status, signature: null };
    if (outcome.status === 'expired') continue;
    if (!isInTime()) break;
    logger.error({ msg: 'The ledger refused a settlement', job_id: job.id, err: outcome.error });
    // In `settling` the worker proved another text than it delivered.
    return failJob(
      context,
      job,
      status === 'settling' ? 'output_mismatch' : 'worker_error',
      delivered,
    );
  }
  return { status: 'overdue' };
}

/** @returns undefined where the ledger could not be asked; throws what asking again cannot mend */
function undecided(error: unknown): 'withdrawn' | undefined {
  if (error instanceof WithdrawnError) return 'withdrawn';
  if (!(error instanceof LedgerUnavailableError)) throw error;
  return undefined;
}

function settlementInstructions(
  context: LedgerContext,
  acknowledgements: Acknowledgements,
  options: { job: LockedJob; answer: ProvenAnswer; countedTokens: number },
) {
  const { job, answer, countedTokens } = options;
  const { proof, slot, attempt } = answer;
  const { programId } = context.addresses;
  const worker = publicKeyOf(slot.worker.address);
  const acknowledgement = acknowledgements.collect(job);
  const before = acknowledgement ? [acknowledgement] : [];
  return [
    ...before,
    ed25519Instruction({
      publicKey: publicKeyOf(slot.worker.proof_key),
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
      workerPayout: publicKeyOf(slot.worker.payout),
      deliveredHash: proof.outputHash,
      countedTokens,
    }),
  ];
}
