import type { Escrow, LockedJob } from '../ledger/escrow.ts';
import type { ApiMetrics, JobEnding } from './metrics.ts';

/** Counts jobs from their lock to their end, each once, however many instructions that takes. */
export function observeEscrow(escrow: Escrow, metrics: ApiMetrics): Escrow {
  const running = new Set<string>();

  function ended(job: LockedJob, end: JobEnding): void {
    if (!running.delete(job.id)) return;
    metrics.jobsInFlight(running.size);
    metrics.jobEnded(end);
  }

  async function ending<End extends { status: string }>(
    job: LockedJob,
    work: Promise<End>,
  ): Promise<End> {
    try {
      const end = await work;
      // Only a refund is left for an overdue job, and that is to come.
      if (end.status !== 'overdue') ended(job, end.status as JobEnding);
      return end;
    } catch (error) {
      ended(job, 'left_to_keeper');
      throw error;
    }
  }

  return {
    ...escrow,
    async lock(payer, quoted, draft) {
      const job = await escrow.lock(payer, quoted, draft);
      running.add(job.id);
      metrics.jobsInFlight(running.size);
      return job;
    },
    settle: (job, ...settling) => ending(job, escrow.settle(job, ...settling)),
    fail: (job, reason) => ending(job, escrow.fail(job, reason)),
    refund: (job) => ending(job, escrow.refund(job)),
  };
}
