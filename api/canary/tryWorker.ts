import type { PublicKey } from '@solana/web3.js';
import { chargeCredits } from '../../programs/client/pricing.ts';
import type { TokenCounts } from '../../runtime/tokenizers/tokenCounts.ts';
import { type AttemptEnd, type AttemptOptions, runAttempt } from '../completion/attempt.ts';
import { chatForWorker } from '../completion/chatForWorker.ts';
import { checkProof, type ProvenAnswer } from '../completion/provenAnswer.ts';
import { priceOf, quote } from '../completion/quote.ts';
import type { Refunds } from '../completion/refund.ts';
import type { Escrow, LockedJob } from '../ledger/escrow.ts';
import { newcomer } from '../routing/knownWorker.ts';
import type { Slot } from '../routing/slots.ts';
import type { ModelRow } from '../statements/models.ts';
import type { WorkerRow } from '../statements/workers.ts';
import type { CanaryQuestion } from './questions.ts';

export interface CanaryServices extends Pick<AttemptOptions, 'workers' | 'clock'> {
  escrow: Escrow;
  tokens: TokenCounts;
  refunds: Refunds;
  programId: PublicKey;
}

/** What a worker made of one question. */
export type Trial = { firstTokenMs: number | undefined } & (
  | {
      kind: 'proven';
      text: string;
      claimedTokens: number;
      countedTokens: number;
      chargedCredits: bigint;
    }
  /** Nothing was charged. */
  | { kind: 'unproven'; fault: string }
  /** It had no place, which is no fault. Nothing was charged. */
  | { kind: 'full' }
);

/**
 * Puts one question to one worker as a job like any other, and sees the job to its end on the
 * ledger: settled if the worker proved its answer, without a charge if not.
 *
 * @param options.interrupted aborts when the answer is not waited for any longer
 * @throws ApiError, PriceChangedError, LedgerUnavailableError when the job cannot be locked
 */
export async function tryWorker(
  services: CanaryServices,
  options: {
    wallet: string;
    model: ModelRow;
    worker: WorkerRow;
    question: CanaryQuestion;
    interrupted: AbortSignal;
  },
): Promise<Trial> {
  const { escrow, tokens, refunds, programId } = services;
  const { wallet, model, worker, question, interrupted } = options;
  const { request } = question;
  const quoted = await quote(model, request, tokens);
  const job = await escrow.lock({ wallet, sequence: null }, quoted, escrow.draft(wallet));
  try {
    const chat = chatForWorker(request);
    const { end, firstTokenMs } = await attempt(services, { job, worker, chat, interrupted });
    if (end.kind !== 'whole') {
      await refunds.refund(job, end);
      if (end.kind === 'failed' && end.busy) return { kind: 'full', firstTokenMs };
      const fault = end.kind === 'failed' ? end.reason : end.kind;
      return { kind: 'unproven', fault, firstTokenMs };
    }
    const answer = checkProof(end.answer, { programId, job: job.address });
    if (answer) return { firstTokenMs, ...(await settle(services, job, answer)) };
    await escrow.fail(job, 'proof_invalid');
    return { kind: 'unproven', fault: 'proof_invalid', firstTokenMs };
  } catch (error) {
    // Something of ours broke: the job must not stay open for it.
    await escrow.fail(job, 'worker_error');
    throw error;
  }
}

async function attempt(
  { escrow, workers, clock }: CanaryServices,
  options: {
    job: LockedJob;
    worker: WorkerRow;
    chat: Record<string, unknown>;
    interrupted: AbortSignal;
  },
): Promise<{ end: AttemptEnd; firstTokenMs: number | undefined }> {
  const { job, worker, chat, interrupted } = options;
  const { endpoint, address: workerAddress } = worker;
  const { id: jobId, address: jobAddress, tokenLimit, deadlines } = job;
  let firstTokenMs: number | undefined;
  const slot = slotAt(worker, (observedMs) => {
    firstTokenMs = observedMs;
  });
  const events = runAttempt({
    slot,
    task: { endpoint, workerAddress, jobId, jobAddress, attempt: 1, tokenLimit, chat },
    workers,
    clock,
    deadlines,
    // As if another could go on: one that is silent for too long is not waited for.
    findSuccessor: async () => true,
    clientGone: interrupted,
    keepPartial: false,
  });
  for (;;) {
    const { done, value } = await events.next();
    if (done) return { end: value, firstTokenMs };
    if (value.type === 'started') escrow.acknowledge(job, workerAddress, 1);
  }
}

async function settle(
  { escrow, tokens, refunds }: CanaryServices,
  job: LockedJob,
  answer: ProvenAnswer,
) {
  const { text, proof } = answer;
  const countedTokens = Math.min(await tokens.output(job.model.id, text), job.tokenLimit);
  const settled = await escrow.settle(job, answer, countedTokens);
  const end = settled.status === 'overdue' ? await refunds.refundWhenDue(job) : settled;
  if (end.status !== 'settled') return { kind: 'unproven' as const, fault: end.status };
  const claimedTokens = proof.completionTokens;
  const charged = Math.min(claimedTokens, countedTokens);
  return {
    kind: 'proven' as const,
    ...{ text, claimedTokens, countedTokens },
    chargedCredits: chargeCredits(priceOf(job.model), charged, job.lockCredits),
  };
}

/** At a worker that nobody chose, so that no choice learns from how it does. */
function slotAt(worker: WorkerRow, observeFirstToken: (ms: number) => void): Slot {
  const ignore = () => undefined;
  const learning = { succeeded: ignore, failed: ignore, foundBusy: ignore, release: ignore };
  return { worker: newcomer(worker), observeFirstToken, ...learning };
}
