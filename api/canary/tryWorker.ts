import { chargeCredits } from '../../programs/client/pricing.ts';
import type { TokenCounts } from '../../runtime/tokenizers/tokenCounts.ts';
import { type AskServices, ask } from '../completion/ask.ts';
import type { ProvenAnswer } from '../completion/attempt.ts';
import { chatForWorker } from '../completion/chatForWorker.ts';
import { priceOf, quote } from '../completion/quote.ts';
import { createRace } from '../completion/race.ts';
import type { UnpaidEnding } from '../completion/unpaidEnding.ts';
import type { LockedJob } from '../ledger/escrow.ts';
import { newcomer } from '../routing/knownWorker.ts';
import type { Slot } from '../routing/slots.ts';
import type { ModelRow } from '../statements/models.ts';
import type { WorkerRow } from '../statements/workers.ts';
import type { CanaryQuestion } from './questions.ts';

export interface CanaryServices extends Omit<AskServices, 'onFirstToken'> {
  tokens: TokenCounts;
  unpaid: UnpaidEnding;
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
  const { escrow, tokens, unpaid } = services;
  const { wallet, model, worker, question, interrupted } = options;
  const { request } = question;
  const quoted = await quote(model, request, tokens);
  const job = await escrow.lock({ wallet, sequence: null }, quoted, escrow.draft(wallet));
  let firstTokenMs: number | undefined;
  const slot = slotAt(worker, (observedMs) => {
    firstTokenMs = observedMs;
  });
  try {
    const end = await ask(
      { ...services, onFirstToken: () => undefined },
      {
        ...{ job, slot, attempt: 1, chat: chatForWorker(request), clientGone: interrupted },
        delivery: { begin: () => undefined, write: () => undefined },
        onBegun: () => undefined,
        onWhole: async () => undefined,
        keepPartial: false,
        runner: createRace().enter(),
        isRival: false,
        // As if another could go on: one that is silent for too long is not waited for.
        replace: async () => true,
      },
    );
    if (end.kind === 'outrun') throw new Error('an attempt was outrun by none');
    if (end.kind === 'proven') {
      return { firstTokenMs, ...(await settle(services, job, end.answer)) };
    }
    await unpaid.end(job, end);
    if (end.kind === 'failed' && end.busy) return { kind: 'full', firstTokenMs };
    const fault = end.kind === 'failed' ? end.reason : end.kind;
    return { kind: 'unproven', fault, firstTokenMs };
  } catch (error) {
    // Something of ours broke: the job must not stay open for it.
    await escrow.fail(job, 'worker_error');
    throw error;
  }
}

async function settle(
  { escrow, tokens, unpaid }: CanaryServices,
  job: LockedJob,
  answer: ProvenAnswer,
) {
  const { text, proof } = answer;
  const countedTokens = Math.min(await tokens.output(job.model.id, text), job.tokenLimit);
  const settled = await escrow.settle(job, answer, countedTokens);
  const end = settled.status === 'overdue' ? await unpaid.refundWhenDue(job) : settled;
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
