import { sha256Text } from '../../runtime/jsonForms.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { TokenCounts } from '../../runtime/tokenizers/tokenCounts.ts';
import { within } from '../../runtime/wait.ts';
import type { NewClaim } from '../idempotency/idempotency.ts';
import type { LockedJob } from '../ledger/escrow.ts';
import type { WholeAnswer } from './attempt.ts';
import type { Delivery, Usage } from './delivery.ts';

/** What a request brings besides its job. */
export interface KeepingContext {
  delivery: Pick<Delivery, 'finish'>;
  isStream: boolean;
  /** Where the answer is kept for repeats. */
  claim: Pick<NewClaim, 'store' | 'discard'>;
  /** Unix seconds. */
  created: number;
}

/** A whole answer whose copy is on its way to the database. */
export interface KeptAnswer {
  countedTokens: number;
  usage: Usage;
  outputHash: string;
  deliveryReceipt: string;
  /** Resolves once the copy is stored, or has taken too long: nothing is settled before. */
  stored: Promise<void>;
  /** Takes the copy back: the answer turned out to be unproven. */
  discard(): Promise<void>;
}

/** Counts an answer, ends a stream's text, signs the receipt and begins to store the copy. */
export type KeepAnswer = (
  job: LockedJob,
  answer: WholeAnswer,
  context: KeepingContext,
) => Promise<KeptAnswer>;

/** A settlement waits this long for a database that is away. */
const STORE_WAIT_MS = 2_000;

export function createKeepAnswer(options: {
  tokens: Pick<TokenCounts, 'output'>;
  logger: Logger;
  /** Signs that this text was delivered; see the delivery receipt in SECURITY.md. */
  signReceipt: (job: LockedJob, outputHash: Uint8Array) => string;
}): KeepAnswer {
  const { tokens, logger, signReceipt } = options;

  /** A repeat of what is not kept is refused instead of answered; that is no reason not to settle. */
  async function inTime(job: LockedJob, storing: Promise<void>): Promise<void> {
    const stored = storing.then(
      () => true,
      (error: unknown) => {
        logger.warn({ msg: 'Failed to keep an answer for repeats', job_id: job.id, err: error });
        return true;
      },
    );
    if (await within(STORE_WAIT_MS, stored)) return;
    logger.warn({ msg: 'An answer was not kept for repeats in time', job_id: job.id });
  }

  return async (job, answer, { delivery, isStream, claim, created }) => {
    const { text, finishReason, engine, slot, proof } = answer;
    const countedTokens = Math.min(await tokens.output(job.model.id, text), job.tokenLimit);
    const usage = usageOf(answer, countedTokens);
    // A stream's reader waits for nothing else; a plain answer's waits for its settlement.
    if (isStream) delivery.finish(finishReason, usage);
    const outputHash = sha256Text(Buffer.from(proof.outputHash).toString('hex'));
    const deliveryReceipt = signReceipt(job, proof.outputHash);
    const storing = claim.store({
      ...{ text, finishReason, usage, created, outputHash, deliveryReceipt },
      modelId: job.model.id,
      escrowTx: job.escrowTx,
      worker: { address: slot.worker.address, engine },
    });
    const stored = inTime(job, storing);
    // By the next turn its statement was sent.
    await new Promise<void>((resolve) => void setImmediate(resolve));
    return {
      ...{ countedTokens, usage, outputHash, deliveryReceipt, stored },
      async discard() {
        await Promise.allSettled([storing]);
        await claim.discard().catch((error: unknown) => {
          // It goes by itself in ten minutes, and a job that is known to have failed has no use for it.
          logger.warn({ msg: 'Failed to take back an answer', job_id: job.id, err: error });
        });
      },
    };
  };
}

/** The worker's counts, the output's no higher than ours. */
function usageOf({ proof }: WholeAnswer, countedTokens: number): Usage {
  const completion_tokens = Math.min(proof.completionTokens, countedTokens);
  const prompt_tokens = proof.promptTokens;
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}
