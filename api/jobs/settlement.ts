import type { PublicKey } from '@solana/web3.js';
import { creditsNumber, usdcValue } from '../../common/format.ts';
import type { Logger } from '../../common/logger.ts';
import type { TokenCounts } from '../../common/tokenizers/tokenCounts.ts';
import { systemTime, type Time, within } from '../../common/wait.ts';
import { chargeCredits } from '../../programs/client/pricing.ts';
import {
  formatReceipt,
  type KeyHolder,
  type ProvenOutput,
  receiptMessage,
  signHashedBy,
} from '../../programs/client/proof.ts';
import type { Escrow } from '../ledger/escrow.ts';
import type { JobResult, KnownResult, LockedJob, SettlementRecord } from '../ledger/job.ts';
import type { ProvenAnswer } from '../ledger/proof.ts';
import type { SettlementFacts, Usage } from '../response/delivery.ts';
import { priceOf } from '../sql/workers.ts';
import type { Stages } from '../telemetry/tracing.ts';
import type { AnswerCopy, NewClaim } from './claim.ts';
import { type RefundServices, refundWhenDue } from './refund.ts';

// From a proven answer to its charge: counted, stored for repeats, settled, shown by the mirror.

/** A settlement waits this long for a database that is away. */
const STORE_WAIT_MS = 2_000;
/** How long the mirror is waited for once the ledger has settled. */
const MIRROR_WAIT_MS = 10_000;

/**
 * What the answer is charged for: the worker's counts, the output's no higher than ours.
 *
 * @returns also our own count, never above the limit that was locked for, and the charge that the
 *   program computes from it
 */
export async function countTokens(
  tokens: Pick<TokenCounts, 'output'>,
  job: LockedJob,
  answer: ProvenAnswer,
): Promise<{ countedTokens: number; usage: Usage; creditsCharged: number }> {
  const { model, tokenLimit, lockCredits } = job;
  const { reasoning, proof } = answer;
  const [output, reasoning_tokens] = await Promise.all([
    countOutput(tokens, model.id, answer),
    reasoning ? tokens.output(model.id, reasoning) : 0,
  ]);
  const countedTokens = Math.min(output, tokenLimit);
  const completion_tokens = Math.min(proof.completionTokens, countedTokens);
  const charged = chargeCredits(priceOf(model), completion_tokens, lockCredits);
  const usage = usageOf({
    promptTokens: proof.promptTokens,
    completionTokens: completion_tokens,
    reasoningTokens: reasoning_tokens,
    charged,
  });
  return { countedTokens, usage, creditsCharged: creditsNumber(charged) };
}

/** The most tokens that a worker may have needed for an answer: its text and its calls. */
export async function countOutput(
  tokens: Pick<TokenCounts, 'output'>,
  modelId: string,
  { text, toolCalls }: Pick<ProvenAnswer, 'text' | 'toolCalls'>,
): Promise<number> {
  const called = toolCalls.map(({ name, arguments: written }) => name + written);
  const counting = [text, ...called].map((one) => tokens.output(modelId, one));
  return (await Promise.all(counting)).reduce((sum, count) => sum + count, 0);
}

/** An answer's usage. */
export function usageOf(answer: {
  promptTokens: number;
  completionTokens: number;
  reasoningTokens: number;
  charged: bigint;
}): Usage {
  const { promptTokens, completionTokens, reasoningTokens, charged } = answer;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    cost: usdcValue(charged),
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}

/**
 * Stores the answer for repeats of its request.
 *
 * @returns once it is stored, or has taken too long: nothing is settled before
 */
export async function storeForRepeats(
  { logger, time }: { logger: Logger; time?: Time },
  job: LockedJob,
  claim: Pick<NewClaim, 'store'>,
  copy: AnswerCopy,
): Promise<void> {
  // A repeat of what is not stored is refused instead of answered; that is no reason not to settle.
  const stored = claim.store(copy).then(
    () => true,
    (error: unknown) => {
      logger.warn({ msg: 'Failed to keep an answer for repeats', job_id: job.id, err: error });
      return true;
    },
  );
  if (await within(STORE_WAIT_MS, stored, time)) return;
  logger.warn({ msg: 'An answer was not kept for repeats in time', job_id: job.id });
}

/** A settlement that goes on whether or not its client waits for it. */
interface PendingResult {
  /** The job's end on the ledger; undefined when it was left to the keeper. */
  result: Promise<JobResult | undefined>;
  /** What the mirror shows of that end, or the ledger's own event where it does not in time. */
  record: Promise<SettlementRecord | undefined>;
}

/** Settles once `stored` resolves; refunds when that is too late for the answer's proof. */
export function settleAnswer(
  services: RefundServices & { escrow: Pick<Escrow, 'settle' | 'readSettlement'> },
  options: {
    job: LockedJob;
    answer: ProvenAnswer;
    countedTokens: number;
    stored: Promise<void>;
    stages: Pick<Stages, 'mark'>;
  },
): PendingResult {
  const { escrow, work, time = systemTime } = services;
  const { job, answer, countedTokens, stages } = options;
  let sinceMs = 0;
  const kept = options.stored.then(() => {
    sinceMs = time.nowMs();
  });

  async function settleOrRefund(): Promise<JobResult> {
    const settled = await escrow.settle(job, answer, countedTokens, kept);
    const result = settled.status === 'overdue' ? await refundWhenDue(services, job) : settled;
    stages.mark('settle');
    return result;
  }

  async function readRecord(): Promise<SettlementRecord | undefined> {
    const ended = await result;
    if (!ended) return undefined;
    const dueMs = time.nowMs() + MIRROR_WAIT_MS;
    const record = await work.awaitMirror(job, ended, { timeoutMs: MIRROR_WAIT_MS, sinceMs });
    stages.mark('mirror');
    if (record || ended.status !== 'settled') return record;
    // Other jobs' events may be read first. The mirror may be back by then, and ends this reading.
    const known = new AbortController();
    const { signal } = known;
    const wait = { timeoutMs: dueMs - time.nowMs(), sinceMs, silenceMs: undefined, signal };
    const key = { wallet: job.wallet, jobId: job.id };
    const event = escrow.readSettlement(key, ended.signature, () => signal.aborted);
    const first = await Promise.race([work.awaitMirror(job, ended, wait), event]);
    if (first) known.abort();
    return first ?? event;
  }

  const result = work.trackToEnd(job, settleOrRefund());
  return { result, record: work.trackToEnd(job, readRecord()) };
}

/** Signs that an answer was delivered; see the delivery receipt in SECURITY.md. */
export function createReceiptSigner(programId: PublicKey, signer: KeyHolder) {
  return async (job: LockedJob, { outputHash, statement }: ProvenOutput): Promise<string> => {
    const message = receiptMessage({ programId, job: job.address, outputHash, statement });
    return formatReceipt(signer.publicKey, await signHashedBy(message, signer));
  };
}

/** What is known of a settlement after so long. The ledger's result counts without the mirror's. */
export async function awaitSettlement(
  waitMs: number,
  pending: PendingResult,
  time: Time = systemTime,
): Promise<KnownResult | undefined> {
  const dueMs = time.nowMs() + waitMs;
  const result = await within(waitMs, pending.result, time);
  if (!result) return undefined;
  const record = await within(Math.max(0, dueMs - time.nowMs()), pending.record, time);
  return { result, record };
}

/** What a client learns of the settlement, as far as it is known. */
export function settlementOf(known: KnownResult | undefined): SettlementFacts {
  if (known?.result.status !== 'settled') return { settlementTx: null, creditsRemaining: null };
  const { result, record } = known;
  return {
    settlementTx: result.signature ?? record?.settlement_tx ?? null,
    creditsRemaining: record ? creditsNumber(record.available_credits) : null,
  };
}
