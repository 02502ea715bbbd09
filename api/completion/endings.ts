import { creditsNumber } from '../../runtime/jsonForms.ts';
import { ApiError } from '../errors.ts';
import type { LockedJob } from '../ledger/escrow.ts';

/** What a client is told of a job that ended without a charge. */
function ending(job: LockedJob, refundTx: string | null) {
  return {
    job_id: job.id,
    credits_refunded: creditsNumber(job.lockCredits),
    refund_tx: refundTx,
  };
}

/** @param refundTx null when it was not confirmed in time that the credits are back */
export function workerFailed(job: LockedJob, refundTx: string | null): ApiError {
  return new ApiError('worker_failed', 'No worker produced a proven answer; nothing is charged.', {
    details: ending(job, refundTx),
  });
}

/** @param refundTx null when the refund was not confirmed in time; anybody can still make it */
export function jobTimeout(job: LockedJob, refundTx: string | null): ApiError {
  return new ApiError('job_timeout', 'No worker finished within 120 seconds.', {
    details: ending(job, refundTx),
  });
}

export function contextExceeded(job: LockedJob, refundTx: string | null): ApiError {
  return new ApiError(
    'context_length_exceeded',
    `The messages exceed the context window of ${job.model.id}, as its worker counted them.`,
    {
      param: 'messages',
      details: { ...ending(job, refundTx), context_window: job.model.context_window_tokens },
    },
  );
}
