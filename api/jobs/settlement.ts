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
import type { KnownEnd, Refunds } from './refund.ts';
import type { AnswerCopy } from './replay.ts';

/** From a proven answer to its charge: counted, kept for repeats, settled, shown by the mirror. */
export interface Settlements {
  /** What the answer is charged for: the worker's counts, the output's no higher than ours. */
  count(job: LockedJob, answer: ProvenAnswer): Promise<Count>;
  /** Signs that this text was delivered; see the delivery receipt in SECURITY.md. */
  receipt(job: LockedJob, answer: ProvenAnswer): Promise<Receipt>;
  /**
   * Keeps the answer for repeats of its request.
   *
   * @returns once it is stored, or has taken too long: nothing is settled before
   */
  store(job: LockedJob, claim: Pick<NewClaim, 'store'>, copy: AnswerCopy): Promise<void>;
  /** Settles once `stored` resolves; refunds when that is too late for the answer's proof. */
  settle(options: {
    job: LockedJob;
    answer: ProvenAnswer;
    countedTokens: number;
    stored: Promise<void>;
    stages: Pick<Stages, 'mark'>;
  }): Settling;
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

/** A settlement under way, whether or not its client waits for it. */
interface Settling {
  /** The job's end on the ledger; undefined when it was left to the keeper. */
  ending: Promise<JobResult | undefined>;
  /** What the mirror shows of that end, or the ledger's own event where it does not in time. */
  showing: Promise<SettlementRecord | undefined>;
}

/** A settlement waits this long for a database that is away. */
const STORE_WAIT_MS = 2_000;
/** How long the mirror is waited for once the ledger has settled. */
const MIRROR_WAIT_MS = 10_000;

export function createSettlements(options: {
  escrow: Pick<Escrow, 'settle' | 'readSettlement'>;
  tokens: Pick<TokenCounts, 'output'>;
  work: JobWork;
  refunds: Pick<Refunds, 'refundWhenDue'>;
  logger: Logger;
  signReceipt: (job: LockedJob, outputHash: Uint8Array) => Promise<string>;
  time?: Time;
}): Settlements {
  const { escrow, tokens, work, refunds, logger, signReceipt, time = systemTime } = options;
  return {
    async count(job, { text, proof }) {
      const countedTokens = Math.min(await tokens.output(job.model.id, text), job.tokenLimit);
      const completion_tokens = Math.min(proof.completionTokens, countedTokens);
      const prompt_tokens = proof.promptTokens;
      return {
        countedTokens,
        usage: {
          prompt_tokens,
          completion_tokens,
          total_tokens: prompt_tokens + completion_tokens,
        },
      };
    },

    receipt: async (job, { proof: { outputHash } }) => ({
      outputHash: sha256Text(Buffer.from(outputHash).toString('hex')),
      deliveryReceipt: await signReceipt(job, outputHash),
    }),

    async store(job, claim, copy) {
      // A repeat of what is not kept is refused instead of answered; that is no reason not to settle.
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

    settle({ job, answer, countedTokens, stored, stages }) {
      let sinceMs = 0;
      const kept = stored.then(() => {
        sinceMs = time.nowMs();
      });
      async function end(): Promise<JobResult> {
        const settled = await escrow.settle(job, answer, countedTokens, kept);
        const ended = settled.status === 'overdue' ? await refunds.refundWhenDue(job) : settled;
        stages.mark('settle');
        return ended;
      }
      async function show(
        ending: Promise<JobResult | undefined>,
      ): Promise<SettlementRecord | undefined> {
        const ended = await ending;
        if (!ended) return undefined;
        const progress = await work.mirrored(job, ended, { timeoutMs: MIRROR_WAIT_MS, sinceMs });
        stages.mark('mirror');
        if (progress || ended.status !== 'settled') return progress;
        return escrow.readSettlement({ wallet: job.wallet, jobId: job.id }, ended.signature);
      }
      const ending = work.keepGoing(job, end());
      return { ending, showing: work.keepGoing(job, show(ending)) };
    },
  };
}

/** What is known of a settlement after so long: the ledger's word counts without the mirror's. */
export async function knownWithin(
  waitMs: number,
  { ending, showing }: Settling,
  time: Time = systemTime,
): Promise<KnownEnd | undefined> {
  const dueMs = time.nowMs() + waitMs;
  const end = await within(waitMs, ending, time);
  if (!end) return undefined;
  return { end, progress: await within(Math.max(0, dueMs - time.nowMs()), showing, time) };
}

/** What a client is told of the settlement, as far as it is known. */
export function settlementOf(
  known: KnownEnd | undefined,
): Pick<Settlement, 'settlementTx' | 'creditsRemaining'> {
  if (known?.end.status !== 'settled') return { settlementTx: null, creditsRemaining: null };
  const { end, progress } = known;
  return {
    settlementTx: end.signature ?? progress?.settlement_tx ?? null,
    creditsRemaining: progress ? creditsNumber(progress.available_credits) : null,
  };
}
