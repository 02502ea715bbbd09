import type { Response } from 'express';
import { creditsNumber, sha256Text } from '../../runtime/jsonForms.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { TokenCounts } from '../../runtime/tokenizers/tokenCounts.ts';
import { within } from '../../runtime/wait.ts';
import type { NewClaim } from '../idempotency/idempotency.ts';
import type { Escrow, JobEnd, LockedJob } from '../ledger/escrow.ts';
import type { JobProgress } from '../statements/jobs.ts';
import type { ProvenAnswer } from './attempt.ts';
import type { Delivery, Settlement, Usage } from './delivery.ts';
import type { JobWork } from './jobWork.ts';
import type { Stages } from './stages.ts';
import { endingError, type KnownEnd, type UnpaidEnding } from './unpaidEnding.ts';

/** What a request brings besides its job. */
export interface RequestContext {
  delivery: Delivery;
  response: Response;
  stages: Stages;
  isStream: boolean;
  /** Where the answer is kept for repeats. */
  claim: Pick<NewClaim, 'store'>;
  /** Unix seconds. */
  created: number;
}

/** Settles a proven answer and hands it to its client, who never waits for long. */
export type DeliverProven = (
  job: LockedJob,
  answer: ProvenAnswer,
  context: RequestContext,
) => Promise<void>;

/** A settlement waits this long for a database that is away. */
const KEEP_WAIT_MS = 2_000;
/** A plain answer waits this long for its settlement and for the mirror to show it. */
const PLAIN_SETTLEMENT_WAIT_MS = 10_000;
/** A finished stream is held open this long for its trailers. */
const STREAM_SETTLEMENT_WAIT_MS = 3_000;

export function createProvenDelivery(options: {
  escrow: Escrow;
  tokens: Pick<TokenCounts, 'output'>;
  work: JobWork;
  unpaid: UnpaidEnding;
  logger: Logger;
  /** Signs that this text was delivered; see the delivery receipt in SECURITY.md. */
  signReceipt: (job: LockedJob, outputHash: Uint8Array) => string;
}): DeliverProven {
  const { escrow, tokens, work, unpaid, logger, signReceipt } = options;

  /** A repeat of what is not kept is refused instead of answered; that is no reason not to settle. */
  async function keepInTime(job: LockedJob, keepCopy: () => Promise<void>): Promise<void> {
    const keeping = keepCopy().then(
      () => true,
      (error: unknown) => {
        logger.warn({ msg: 'Failed to keep an answer for repeats', job_id: job.id, err: error });
        return true;
      },
    );
    if (await within(KEEP_WAIT_MS, keeping)) return;
    logger.warn({ msg: 'An answer was not kept for repeats in time', job_id: job.id });
  }

  /** The job's end on the ledger, and after it the mirror's word of that. */
  function settle(
    job: LockedJob,
    answer: ProvenAnswer,
    settling: {
      countedTokens: number;
      stages: Stages;
      keepCopy: () => Promise<void>;
      /** Done while the copy is being stored. */
      meanwhile: () => void;
    },
  ) {
    const { countedTokens, stages, keepCopy, meanwhile } = settling;
    let sinceMs = 0;
    async function end(): Promise<JobEnd> {
      const kept = keepInTime(job, keepCopy).then(() => {
        sinceMs = performance.now();
      });
      // The copy is on its way to the database then, and the settlement is built meanwhile.
      await new Promise<void>((resolve) => void setImmediate(resolve));
      meanwhile();
      const settled = await escrow.settle(job, answer, countedTokens, kept);
      const ended = settled.status === 'overdue' ? await unpaid.refundWhenDue(job) : settled;
      stages.mark('settle');
      return ended;
    }
    async function show(ending: Promise<JobEnd | undefined>): Promise<JobProgress | undefined> {
      const ended = await ending;
      if (!ended) return undefined;
      const wait = { timeoutMs: PLAIN_SETTLEMENT_WAIT_MS, sinceMs };
      const progress = await work.mirrored(job, ended, wait);
      stages.mark('mirror');
      return progress;
    }
    const ending = work.keepGoing(job, end());
    return { ending, showing: work.keepGoing(job, show(ending)) };
  }

  /** What is known of the end within that time: the ledger's word counts without the mirror's. */
  async function knownWithin(
    waitMs: number,
    { ending, showing }: ReturnType<typeof settle>,
  ): Promise<KnownEnd | undefined> {
    const dueMs = performance.now() + waitMs;
    const end = await within(waitMs, ending);
    if (!end) return undefined;
    return { end, progress: await within(Math.max(0, dueMs - performance.now()), showing) };
  }

  return async (job, answer, context) => {
    const { delivery, response, stages, isStream, claim, created } = context;
    const { text, finishReason, engine, slot, proof } = answer;
    const countedTokens = Math.min(await tokens.output(job.model.id, text), job.tokenLimit);
    const usage = usageOf(answer, countedTokens);
    const finish = () => delivery.finish(finishReason, usage);
    // A stream's reader waits for nothing else; a plain answer's waits for its settlement.
    if (isStream) finish();
    const outputHash = sha256Text(Buffer.from(proof.outputHash).toString('hex'));
    const deliveryReceipt = signReceipt(job, proof.outputHash);

    const keepCopy = () =>
      claim.store({
        ...{ text, finishReason, usage, created, outputHash, deliveryReceipt },
        modelId: job.model.id,
        escrowTx: job.escrowTx,
        worker: { address: slot.worker.address, engine },
      });
    const meanwhile = isStream ? () => undefined : finish;
    const settling = settle(job, answer, { countedTokens, stages, keepCopy, meanwhile });

    const waitMs = isStream ? STREAM_SETTLEMENT_WAIT_MS : PLAIN_SETTLEMENT_WAIT_MS;
    const known = await knownWithin(waitMs, settling);
    if (!isStream && known && known.end.status !== 'settled') {
      return delivery.fail(endingError(job, known));
    }
    if (!response.headersSent) response.set('server-timing', stages.header());
    delivery.settled({ ...settlementOf(known), outputHash, deliveryReceipt });
  };
}

/** The worker's counts, the output's no higher than ours. */
function usageOf({ proof }: ProvenAnswer, countedTokens: number): Usage {
  const completion_tokens = Math.min(proof.completionTokens, countedTokens);
  const prompt_tokens = proof.promptTokens;
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

function settlementOf(
  known: KnownEnd | undefined,
): Pick<Settlement, 'settlementTx' | 'creditsRemaining'> {
  if (known?.end.status !== 'settled') return { settlementTx: null, creditsRemaining: null };
  const { end, progress } = known;
  return {
    settlementTx: end.signature ?? progress?.settlement_tx ?? null,
    creditsRemaining: progress ? creditsNumber(progress.available_credits) : null,
  };
}
