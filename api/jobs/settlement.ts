import { creditsNumber, sha256Text } from '../../common/format.ts';
import type { Logger } from '../../common/logger.ts';
import type { TokenCounts } from '../../common/tokenizers/tokenCounts.ts';
import { systemTime, type Time, within } from '../../common/wait.ts';
import type { Escrow } from '../ledger/escrow.ts';
import type { JobResult, LockedJob, ProvenAnswer, SettlementRecord } from '../ledger/job.ts';
import type { Settlement, Usage } from '../response/delivery.ts';
import type { Stages } from '../telemetry/tracing.ts';
import type { NewClaim } from './claim.ts';
import type { JobWork } from './jobWatch.ts';
import type { KnownResult, Refunds } from './refund.ts';
import type { AnswerCopy } from './replay.ts';

/** From a proven answer to its charge: counted, stored for repeats, settled, shown by the mirror. */
export interface Settlements {
  /** What the answer is charged for: the worker's counts, the output's no higher than ours. */
  count(job: LockedJob, answer: ProvenAnswer): Promise<Count>;
  /** Signs that this text was delivered; see the delivery receipt in SECURITY.md. */
  receipt(job: LockedJob, answer: ProvenAnswer): Promise<Receipt>;
  /**
   * Stores the answer for repeats of its request.
   *
   * @returns once it is stored, or has taken too long: nothing is settled before
   */
  store(job: LockedJob, claim: Pick<NewClaim, 'store'>, copy: AnswerCopy): Promise<void>;
  /** Settles once `stored` resolves; refunds when that is too late for the answer's proof. */
  settle(options: SettleOptions): PendingResult;
}

interface Count {
  /** By our own tokenizer, never above the limit that was locked for. */
  countedTokens: number;
  usage: Usage;
}

interface Receipt {
  /** `sha256:…` of the answer's text. */
  outputHash: string;
  deliveryReceipt: string;
}

interface SettleOptions {
  job: LockedJob;
  answer: ProvenAnswer;
  countedTokens: number;
  stored: Promise<void>;
  stages: Pick<Stages, 'mark'>;
}

/** A settlement that goes on whether or not its client waits for it. */
interface PendingResult {
  /** The job's end on the ledger; undefined when it was left to the keeper. */
  result: Promise<JobResult | undefined>;
  /** What the mirror shows of that end, or the ledger's own event where it does not in time. */
  record: Promise<SettlementRecord | undefined>;
}

interface SettlementServices {
  escrow: Pick<Escrow, 'settle' | 'readSettlement'>;
  tokens: Pick<TokenCounts, 'output'>;
  work: JobWork;
  refunds: Pick<Refunds, 'refundWhenDue'>;
  logger: Logger;
  signReceipt: (job: LockedJob, outputHash: Uint8Array) => Promise<string>;
  time?: Time;
}

/** A settlement waits this long for a database that is away. */
const STORE_WAIT_MS = 2_000;
/** How long the mirror is waited for once the ledger has settled. */
const MIRROR_WAIT_MS = 10_000;

export function createSettlements(services: SettlementServices): Settlements {
  const { tokens, logger, signReceipt, time = systemTime } = services;
  return {
    async count(job, { text, proof }) {
      const countedTokens = Math.min(await tokens.output(job.model.id, text), job.tokenLimit);
      const completion_tokens = Math.min(proof.completionTokens, countedTokens);
      const prompt_tokens = proof.promptTokens;
      const total_tokens = prompt_tokens + completion_tokens;
      return { countedTokens, usage: { prompt_tokens, completion_tokens, total_tokens } };
    },

    receipt: async (job, { proof: { outputHash } }) => ({
      outputHash: sha256Text(Buffer.from(outputHash).toString('hex')),
      deliveryReceipt: await signReceipt(job, outputHash),
    }),

    async store(job, claim, copy) {
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
    },

    settle: (options) => settle(services, options),
  };
}

function settle(
  { escrow, work, refunds, time = systemTime }: SettlementServices,
  { job, answer, countedTokens, stored, stages }: SettleOptions,
): PendingResult {
  let sinceMs = 0;
  const kept = stored.then(() => {
    sinceMs = time.nowMs();
  });

  async function settleOrRefund(): Promise<JobResult> {
    const settled = await escrow.settle(job, answer, countedTokens, kept);
    const result = settled.status === 'overdue' ? await refunds.refundWhenDue(job) : settled;
    stages.mark('settle');
    return result;
  }

  async function readRecord(): Promise<SettlementRecord | undefined> {
    const ended = await result;
    if (!ended) return undefined;
    const record = await work.awaitMirror(job, ended, { timeoutMs: MIRROR_WAIT_MS, sinceMs });
    stages.mark('mirror');
    if (record || ended.status !== 'settled') return record;
    return escrow.readSettlement({ wallet: job.wallet, jobId: job.id }, ended.signature);
  }

  const result = work.trackToEnd(job, settleOrRefund());
  return { result, record: work.trackToEnd(job, readRecord()) };
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
export function settlementOf(
  known: KnownResult | undefined,
): Pick<Settlement, 'settlementTx' | 'creditsRemaining'> {
  if (known?.result.status !== 'settled') return { settlementTx: null, creditsRemaining: null };
  const { result, record } = known;
  return {
    settlementTx: result.signature ?? record?.settlement_tx ?? null,
    creditsRemaining: record ? creditsNumber(record.available_credits) : null,
  };
}
