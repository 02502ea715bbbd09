import { createAcknowledgements } from './acknowledgements.ts';
import type { LedgerContext } from './context.ts';
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
    lock: (wallet, quoted) => lockJob(context, wallet, quoted),
    acknowledge: acknowledgements.announce,
    settle: (job, answer, countedTokens) =>
      ending(job, settleJob(context, acknowledgements, { job, answer, countedTokens })),
    fail: (job, reason) => ending(job, failJob(context, job, reason)),
    refund: (job) => ending(job, refundJob(context, job)),
  };
}
