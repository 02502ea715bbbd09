import type { LedgerClock } from '../../programs/client/sender/ledgerClock.ts';
import { within } from '../../runtime/wait.ts';
import type { ApiError } from '../errors.ts';
import type { Escrow, JobEnd, LockedJob } from '../ledger/escrow.ts';
import type { JobProgress } from '../statements/jobs.ts';
import type { AttemptEnd } from './attempt.ts';
import { contextExceeded, jobTimeout, workerFailed } from './endings.ts';
import type { JobWork } from './jobWork.ts';

/** Gives the credits of a job back, and says what its client is told. */
export interface UnpaidEnding {
  /** Ends a job that nobody is charged for. */
  end(job: LockedJob, end: Exclude<AttemptEnd, { kind: 'proven' }>): Promise<ApiError>;
  /** Waits for the moment from which anybody may refund, and does. */
  refundWhenDue(job: LockedJob): Promise<JobEnd>;
}

/** How long an error waits for the mirror, so that the job can be read as it is told. */
const MIRROR_WAIT = { timeoutMs: 3_000 };
/** How long a time-out waits for its refund, and the mirror, before it is told without them. */
const REFUND_WAIT_MS = 15_000;

const failureReasons = {
  context_exceeded: 'worker_error',
  client_gone: 'client_gone',
} as const;

export function createUnpaidEnding(options: {
  escrow: Escrow;
  clock: LedgerClock;
  work: JobWork;
}): UnpaidEnding {
  const { escrow, clock, work } = options;

  async function refundWhenDue(job: LockedJob): Promise<JobEnd> {
    await clock.waitUntil(job.deadlines.refundableAt);
    return escrow.refund(job);
  }

  async function timeOut(job: LockedJob): Promise<ApiError> {
    const refunding = work.keepGoing(job, refundWhenDue(job));
    await clock.waitUntil(job.deadlines.refundableAt);
    const dueMs = performance.now() + REFUND_WAIT_MS;
    const refunded = await within(REFUND_WAIT_MS, refunding);
    if (!refunded) return jobTimeout(job, null);
    const timeoutMs = Math.min(MIRROR_WAIT.timeoutMs, Math.max(0, dueMs - performance.now()));
    return endingError(job, refunded, await work.mirrored(job, refunded, { timeoutMs }));
  }

  return {
    refundWhenDue,
    async end(job, end) {
      if (end.kind === 'overdue') return timeOut(job);
      const reason = end.kind === 'failed' ? end.reason : failureReasons[end.kind];
      const failed = await escrow.fail(job, reason);
      const progress = await work.mirrored(job, failed, MIRROR_WAIT);
      if (end.kind !== 'context_exceeded') return endingError(job, failed, progress);
      return contextExceeded(job, failed.signature ?? progress?.refund_tx ?? null);
    },
  };
}

/** What the client of a job that ended without a settlement is told. */
export function endingError(
  job: LockedJob,
  end: JobEnd,
  progress: JobProgress | undefined,
): ApiError {
  const refundTx = end.signature ?? progress?.refund_tx ?? null;
  return end.status === 'refunded' ? jobTimeout(job, refundTx) : workerFailed(job, refundTx);
}
