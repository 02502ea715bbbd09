import { creditsNumber } from '../../common/format.ts';
import { systemTime, type Time, within } from '../../common/wait.ts';
import { JOB_TIMEOUT_SECONDS } from '../../programs/client/generated/constants.ts';
import type { LedgerClock } from '../../programs/client/sender/ledgerClock.ts';
import { ApiError } from '../contracts/errors.ts';
import type { Escrow } from '../ledger/escrow.ts';
import type { JobResult, LockedJob, SettlementRecord } from '../ledger/job.ts';
import type { UnprovenEnd } from './attempt.ts';
import { reasonOfUsedLimit } from './emptyAnswers.ts';
import type { JobWork } from './jobWatch.ts';

/** Gives the credits of jobs without a proven answer back, and says what their clients are told. */
export interface Refunds {
  /** Ends a job that nobody is charged for. @returns the error that its client is told */
  refund(job: LockedJob, end: UnprovenEnd): Promise<ApiError>;
  /** Waits for the moment from which anybody may refund, and does. */
  refundWhenDue(job: LockedJob): Promise<JobResult>;
}

/** How long an error waits for the mirror, so that the job can be read as it is told. */
const MIRROR_WAIT_MS = 3_000;
/** How long an error waits for the credits to be back, and the mirror, before it is told without. */
const RETURN_WAIT_MS = 15_000;

const failureReasons = {
  context_exceeded: 'context_length_exceeded',
  refused: 'worker_error',
  client_gone: 'client_gone',
} as const;

function reasonOf(end: Exclude<UnprovenEnd, { kind: 'overdue' }>, { tokenLimit }: LockedJob) {
  if (end.kind === 'failed') return end.reason;
  return end.kind === 'limit_reached' ? reasonOfUsedLimit(tokenLimit) : failureReasons[end.kind];
}

export function createRefunds(options: {
  escrow: Escrow;
  clock: LedgerClock;
  work: JobWork;
  time?: Time;
}): Refunds {
  const { escrow, clock, work, time = systemTime } = options;

  async function refundWhenDue(job: LockedJob): Promise<JobResult> {
    await clock.waitUntil(job.deadlines.refundableAt);
    return escrow.refund(job);
  }

  /** What the job's end came to, and the mirror's word of it, as far as both are known in time. */
  async function untilBack(
    job: LockedJob,
    ending: Promise<JobResult | undefined>,
  ): Promise<KnownEnd | undefined> {
    const dueMs = time.nowMs() + RETURN_WAIT_MS;
    const end = await within(RETURN_WAIT_MS, ending, time);
    if (!end) return undefined;
    const timeoutMs = Math.min(MIRROR_WAIT_MS, Math.max(0, dueMs - time.nowMs()));
    return { end, progress: await work.mirrored(job, end, { timeoutMs }) };
  }

  async function timeOut(job: LockedJob): Promise<ApiError> {
    const refunding = work.keepGoing(job, refundWhenDue(job));
    await clock.waitUntil(job.deadlines.refundableAt);
    const known = await untilBack(job, refunding);
    return known ? endingError(job, known) : jobTimeout(job, null);
  }

  return {
    refundWhenDue,
    async refund(job, end) {
      if (end.kind === 'overdue') return timeOut(job);
      const hadWorker = end.kind !== 'failed' || !(end.busy || end.isRefused);
      // Should it not come to its end, the keeper refunds.
      const known = await untilBack(
        job,
        work.keepGoing(job, escrow.fail(job, reasonOf(end, job), { hadWorker })),
      );
      if (end.kind === 'context_exceeded') return contextExceeded(job, refundTxOf(known));
      if (end.kind === 'refused') return requestRefused(job, end.param, refundTxOf(known));
      if (end.kind === 'failed' && end.busy && known?.end.status !== 'refunded') {
        return noCapacity(job, end.busy.retryAfterMs);
      }
      return known ? endingError(job, known) : workerFailed(job, null);
    },
  };
}

/** What the client of a job that ended without a settlement is told. */
export function endingError(job: LockedJob, known: KnownEnd): ApiError {
  const refundTx = refundTxOf(known);
  if (known.end.hasWorkerLeft) return noCapacity(job);
  return known.end.status === 'refunded' ? jobTimeout(job, refundTx) : workerFailed(job, refundTx);
}

/** How a job ended, and what is known of that besides in time. */
export interface KnownEnd {
  end: JobResult;
  progress: SettlementRecord | undefined;
}

/** Ours, or what the mirror has of somebody else's; null while neither is known. */
function refundTxOf(known: KnownEnd | undefined): string | null {
  return known?.end.signature ?? known?.progress?.refund_tx ?? null;
}

/** What a client is told of every job that ended without a charge. */
function unchargedDetails(job: LockedJob, refundTx: string | null) {
  return {
    job_id: job.id,
    credits_refunded: creditsNumber(job.lockCredits),
    refund_tx: refundTx,
  };
}

/** @param refundTx null when it was not confirmed in time that the credits are back */
function workerFailed(job: LockedJob, refundTx: string | null): ApiError {
  return new ApiError('worker_failed', 'No worker produced a proven answer; nothing is charged.', {
    details: unchargedDetails(job, refundTx),
  });
}

/** Clients ignore a longer time, and a shorter one than a second is none. */
const RETRY_AFTER_SECONDS_MAX = 60;

/** Every worker that was asked was busy, or has left; the lock is given back. */
function noCapacity(job: LockedJob, retryAfterMs = 1_000): ApiError {
  const seconds = Math.ceil(retryAfterMs / 1_000);
  const retryAfterSeconds = Math.min(Math.max(seconds, 1), RETRY_AFTER_SECONDS_MAX);
  return new ApiError(
    'no_workers_available',
    `No worker of ${job.model.id} can take the request now.`,
    {
      retryAfterSeconds,
      details: { model: job.model.id, retry_after: retryAfterSeconds, job_id: job.id },
    },
  );
}

/** @param refundTx null when the refund was not confirmed in time; anybody can still make it */
function jobTimeout(job: LockedJob, refundTx: string | null): ApiError {
  return new ApiError('job_timeout', `No worker finished within ${JOB_TIMEOUT_SECONDS} seconds.`, {
    details: unchargedDetails(job, refundTx),
  });
}

function requestRefused(
  job: LockedJob,
  param: string | undefined,
  refundTx: string | null,
): ApiError {
  const what = param === undefined ? 'the request' : `'${param}'`;
  return new ApiError(
    'invalid_request',
    `The model's server refuses ${what} as it was sent; nothing is charged.`,
    { ...(param !== undefined && { param }), details: unchargedDetails(job, refundTx) },
  );
}

function contextExceeded(job: LockedJob, refundTx: string | null): ApiError {
  return new ApiError(
    'context_length_exceeded',
    `The messages exceed the context window of ${job.model.id}, as its worker counted them.`,
    {
      param: 'messages',
      details: {
        ...unchargedDetails(job, refundTx),
        context_window: job.model.context_window_tokens,
      },
    },
  );
}
