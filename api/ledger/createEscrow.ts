import { createAcknowledgements } from './acknowledgements.ts';
import type { LedgerContext } from './context.ts';
import { draftJob } from './drafts.ts';
import type { Escrow, LockedJob } from './escrow.ts';
import { failJob, refundJob } from './exits.ts';
import { lockJob } from './lock.ts';
import { settleJob } from './settlement.ts';

export function createEscrow(context: LedgerContext): Escrow {
  const acknowledgements = createAcknowledgements(context);

  /** However a job ends, nothing of it is kept or sent afterwards. */
  async function ending<End>(job: LockedJob, work: Promise<End>): Promise<End> {
    try {
      return await work;
    } finally {
      acknowledgements.forget(job);
    }
  }

  return {
    draft: (wallet) => draftJob(context, wallet),
    lock: (payer, quoted, draft) => lockJob(context, { payer, quoted, draft }),
    acknowledge: acknowledgements.announce,
    settle: (job, answer, countedTokens, kept) =>
      ending(job, settleJob(context, acknowledgements, { job, answer, countedTokens, kept })),
    fail: (job, reason) => ending(job, failJob(context, job, reason)),
    refund: (job) => ending(job, refundJob(context, job)),
  };
}
