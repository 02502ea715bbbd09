import { randomBytes } from 'node:crypto';
import { batched } from '../../common/postgres.ts';
import type { FailureReason } from '../../programs/client/generated/vocabulary.ts';
import { createJobId, formatJobId } from '../../programs/client/jobId.ts';
import { publicKeyOf, toBase58 } from '../../programs/client/keys.ts';
import { LedgerUnavailableError } from '../../programs/client/sender/sendResult.ts';
import type { ApiMetrics, JobMetricResult } from '../telemetry/metrics.ts';
import { ignoreUnavailable, type LedgerContext, readJob } from './context.ts';
import type {
  JobDraft,
  JobResult,
  LockedJob,
  LockPayer,
  Quote,
  SettlementRecord,
  SettleResult,
} from './job.ts';
import { type JobKey, readSettlement } from './jobLookup.ts';
import { lockOnLedger, readPriced } from './lockOnLedger.ts';
import type { ProvenAnswer } from './proof.ts';
import { failOnLedger, refundOnLedger } from './refundOnLedger.ts';
import { createAcknowledgements, settleOnLedger } from './settleOnLedger.ts';

/** Events of settlements that a process reads at once. */
const EVENT_READS_MAX = 4;

interface SettlementReading {
  readonly job: JobKey;
  readonly signature: string | null;
  readonly isKnown: () => boolean;
}

export type Escrow = ReturnType<typeof createEscrow>;

/**
 * What the API does on the ledger. Every uncertain result is decided by reading the Job, never by a
 * timer.
 */
export function createEscrow(context: LedgerContext) {
  const acknowledgements = createAcknowledgements(context);
  const readEvent = batched<SettlementReading, SettlementRecord | undefined>({
    itemsMax: 1,
    callsMax: EVENT_READS_MAX,
    call: async ([one]) =>
      one && !one.isKnown() ? [await readSettlement(context, one.job, one.signature)] : [],
  });

  /** However a job ends, none of its acknowledgements is kept or sent afterwards. */
  async function ending<Result>(job: LockedJob, work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } finally {
      acknowledgements.forget(job);
    }
  }

  return {
    /** @throws LedgerUnavailableError while the ledger's time, by which a job is judged, is unknown */
    draft: (wallet: string): JobDraft => draftJob(context, wallet),
    /**
     * Locks the quoted credits for a new job. A draft whose lock was refused can be used again.
     *
     * @param payer a refusal by a node that lacks the account's `sequence` does not count
     * @throws ApiError when the ledger refuses: then there is no job and never will be
     * @throws LockUndecidedError when it does not confirm in time
     * @throws PriceChangedError
     * @throws LedgerUnavailableError with a signature when the lock's fate is not known
     */
    lock: (
      payer: LockPayer,
      quoted: Quote,
      draft: JobDraft,
      onSent: () => void = () => undefined,
    ): Promise<LockedJob> => lockOnLedger(context, { payer, quoted, draft, onSent }),
    /**
     * The job with the prices and the lock that the ledger has of it. Undefined where no node shows
     * them within five seconds.
     */
    readPriced: (job: LockedJob): Promise<LockedJob | undefined> =>
      readPriced(context, job).catch(ignoreUnavailable),
    /**
     * Which worker proved an answer on the ledger while the job is not settled. Undefined where none
     * did, or while the ledger is out of reach.
     */
    async undeliveredProof({
      address,
    }: LockedJob): Promise<{ workerAddress: string; attempt: number } | undefined> {
      const reading = readJob(context, address);
      const found = await reading.catch(ignoreUnavailable);
      if (found?.status !== 'settling') return undefined;
      return { workerAddress: toBase58(found.worker), attempt: found.attempt };
    },
    /** Announces which worker is asked; sent within a moment unless the job's end carries it. */
    acknowledge: acknowledgements.announce,
    /**
     * Proves and settles in one transaction, again until it is decided or too late.
     *
     * @param kept nothing is sent before it resolves
     */
    settle: (
      job: LockedJob,
      answer: ProvenAnswer,
      countedTokens: number,
      kept: Promise<void>,
    ): Promise<SettleResult> =>
      ending(job, settleOnLedger(context, acknowledgements, { job, answer, countedTokens, kept })),
    /** @param of.hadWorker whether the worker that was asked last took the job, and is recorded */
    fail(
      job: LockedJob,
      reason: Exclude<FailureReason, 'none'>,
      { hadWorker = true }: { hadWorker?: boolean } = {},
    ): Promise<JobResult> {
      const acknowledgement = hadWorker ? acknowledgements.collect(job) : undefined;
      return ending(job, failOnLedger(context, job, reason, { acknowledgement }));
    },
    /** To be called once the ledger's time allows it. */
    refund: (job: LockedJob): Promise<JobResult> => ending(job, refundOnLedger(context, job)),
    /**
     * What the settlement's own event says, for when the mirror lacks it. Undefined where there is no
     * such event, or while the ledger is out of reach.
     *
     * Few are read at once, and the others wait. Under load the mirror is late for all jobs, and each
     * of these reads makes the API slower still.
     *
     * @param signature the settlement's, where it is known
     * @param isKnown whether the mirror has shown it while this waited
     */
    async readSettlement(
      job: JobKey,
      signature: string | null,
      isKnown: () => boolean = () => false,
    ): Promise<SettlementRecord | undefined> {
      try {
        return await readEvent({ job, signature, isKnown });
      } catch (error) {
        // The client is answered without it.
        context.logger.warn({ msg: 'Failed to read a settlement', job_id: job.jobId, err: error });
        return undefined;
      }
    },
  };
}

const SALT_BYTES = 32;

/**
 * Draws the id of a job to come, and the salt of its request.
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
  // Its worker and the mirror need the text. Encoded here, it delays neither of them.
  toBase58(address);
  const requestSalt = randomBytes(SALT_BYTES);
  return { id: formatJobId(bytes), bytes, address, creditAccount, requestSalt };
}

/** Counts jobs from their lock to their end, each once, however many instructions that takes. */
export function observeEscrow(
  escrow: Escrow,
  metrics: ApiMetrics,
): { escrow: Escrow; observeLock(job: LockedJob): void } {
  const running = new Set<string>();

  function ended(job: LockedJob, result: JobMetricResult): void {
    if (!running.delete(job.id)) return;
    metrics.jobsInFlight(running.size);
    metrics.jobEnded(result);
  }

  async function ending<Result extends { status: string }>(
    job: LockedJob,
    work: Promise<Result>,
  ): Promise<Result> {
    try {
      const result = await work;
      // An overdue job ends with its refund, which is counted then.
      if (result.status !== 'overdue') ended(job, result.status as JobMetricResult);
      return result;
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
