import { createJobId, formatJobId } from '../../programs/client/jobId.ts';
import { publicKeyOf, spellingOf } from '../../programs/client/keys.ts';
import { LedgerUnavailableError } from '../../programs/client/sender/outcome.ts';
import type { Escrow, JobDraft, LockedJob } from '../jobs/job.ts';
import type { ApiMetrics, JobEnding } from '../telemetry/metrics.ts';
import { type LedgerContext, readJob, unlessAway } from './context.ts';
import { readSettlement } from './jobLookup.ts';
import { createLock } from './lock.ts';
import { failJob, refundJob } from './refund.ts';
import { createAcknowledgements, settleJob } from './settlement.ts';

/**
 * Draws the id of a job to come.
 *
 * @throws LedgerUnavailableError while the ledger's time, by which a job is judged, is unknown
 */
export function draftJob(
  { addresses, clock }: Pick<LedgerContext, 'addresses' | 'clock'>,
  wallet: string,
): JobDraft {
  if (!clock.isRead) {
    throw new LedgerUnavailableError('The ledger was not reached yet', { signature: null });
  }
  const { programId } = addresses;
  const creditAccount = addresses.creditAccount(publicKeyOf(wallet));
  const { bytes, address } = createJobId({ nowMs: clock.nowMs(), creditAccount, programId });
  // Its worker and the mirror are told of it by its spelling, and need not wait for that then.
  spellingOf(address);
  return { id: formatJobId(bytes), bytes, address, creditAccount };
}

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
    lock: createLock(context),
    async undeliveredProof({ address }) {
      const found = await readJob(context, address, { slot: 0, signature: null }).catch(unlessAway);
      if (found?.status !== 'settling') return undefined;
      return { workerAddress: spellingOf(found.worker), attempt: found.attempt };
    },
    acknowledge: acknowledgements.announce,
    settle: (job, answer, countedTokens, kept) =>
      ending(job, settleJob(context, acknowledgements, { job, answer, countedTokens, kept })),
    fail: (job, reason, { hadWorker = true } = {}) => {
      const acknowledgement = hadWorker ? acknowledgements.collect(job) : undefined;
      return ending(job, failJob(context, job, reason, { acknowledgement }));
    },
    refund: (job) => ending(job, refundJob(context, job)),
    async readSettlement(job, signature) {
      try {
        return await readSettlement(context, job, signature);
      } catch (error) {
        // Its client is answered without.
        context.logger.warn({ msg: 'Failed to read a settlement', job_id: job.jobId, err: error });
        return undefined;
      }
    },
  };
}

/** Counts jobs from their lock to their end, each once, however many instructions that takes. */
export function observeEscrow(
  escrow: Escrow,
  metrics: ApiMetrics,
): { escrow: Escrow; observeLock(job: LockedJob): void } {
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

  const observed: Escrow = {
    ...escrow,
    settle: (job, ...settling) => ending(job, escrow.settle(job, ...settling)),
    fail: (job, ...failing) => ending(job, escrow.fail(job, ...failing)),
    refund: (job) => ending(job, escrow.refund(job)),
  };
  return {
    escrow: observed,
    observeLock({ id }) {
      running.add(id);
      metrics.jobsInFlight(running.size);
    },
  };
}
