import type { Response } from 'express';
import { creditsNumber } from '../../runtime/jsonForms.ts';
import { within } from '../../runtime/wait.ts';
import type { Escrow, JobEnd, LockedJob } from '../ledger/escrow.ts';
import type { JobProgress } from '../statements/jobs.ts';
import type { ProvenAnswer } from './attempt.ts';
import type { Delivery, Settlement } from './delivery.ts';
import type { JobWork } from './jobWork.ts';
import type { KeptAnswer } from './keepAnswer.ts';
import type { Stages } from './stages.ts';
import { endingError, type KnownEnd, type UnpaidEnding } from './unpaidEnding.ts';

/** What a request brings besides its job. */
export interface RequestContext {
  delivery: Delivery;
  response: Response;
  stages: Stages;
  isStream: boolean;
}

/** Settles a proven answer and hands it to its client, who never waits for long. */
export type DeliverProven = (
  job: LockedJob,
  answer: ProvenAnswer,
  kept: KeptAnswer,
  context: RequestContext,
) => Promise<void>;

/** A plain answer waits this long for its settlement and for the mirror to show it. */
const PLAIN_SETTLEMENT_WAIT_MS = 10_000;
/** A finished stream is held open this long for its trailers. */
const STREAM_SETTLEMENT_WAIT_MS = 3_000;

export function createProvenDelivery(options: {
  escrow: Escrow;
  work: JobWork;
  unpaid: UnpaidEnding;
}): DeliverProven {
  const { escrow, work, unpaid } = options;

  /** The job's end on the ledger, and after it the mirror's word of that. */
  function settle(job: LockedJob, answer: ProvenAnswer, kept: KeptAnswer, stages: Stages) {
    let sinceMs = 0;
    const stored = kept.stored.then(() => {
      sinceMs = performance.now();
    });
    async function end(): Promise<JobEnd> {
      const settled = await escrow.settle(job, answer, kept.countedTokens, stored);
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

  return async (job, answer, kept, { delivery, response, stages, isStream }) => {
    const { usage, outputHash, deliveryReceipt } = kept;
    // All of this while the copy is being stored.
    if (!isStream) delivery.finish(answer.finishReason, usage);
    const settling = settle(job, answer, kept, stages);

    const waitMs = isStream ? STREAM_SETTLEMENT_WAIT_MS : PLAIN_SETTLEMENT_WAIT_MS;
    const known = await knownWithin(waitMs, settling);
    if (!isStream && known && known.end.status !== 'settled') {
      return delivery.fail(endingError(job, known));
    }
    if (!response.headersSent) response.set('server-timing', stages.header());
    delivery.settled({ ...settlementOf(known), outputHash, deliveryReceipt });
  };
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
