import { creditsNumber } from '../../common/format.ts';
import { systemTime, type Time, within } from '../../common/wait.ts';
import { RETRY_AFTER_SECONDS_MAX } from '../../common/workerProtocol.ts';
import { JOB_TIMEOUT_SECONDS } from '../../programs/client/generated/constants.ts';
import type { LedgerClock } from '../../programs/client/sender/ledgerClock.ts';
import { ApiError } from '../contracts/errors.ts';
import type { Escrow } from '../ledger/escrow.ts';
import type { JobResult, KnownResult, LockedJob } from '../ledger/job.ts';
import type { UnprovenResult } from './attempt.ts';
import { reasonOfUsedLimit } from './emptyAnswers.ts';
import type { JobWork } from './jobWatch.ts';

export interface RefundServices {
  escrow: Pick<Escrow, 'fail' | 'refund'>;
  clock: LedgerClock;
  work: JobWork;
  time?: Time;
}

/** How long an error waits for the mirror, so that the job reads as the error says. */
const MIRROR_WAIT_MS = 3_000;
/** How long an error waits for the refund and the mirror; then it goes out without them. */
const RETURN_WAIT_MS = 15_000;

/** Ends a job without a charge. @returns the error for its client */
export async function refundUnproven(
  services: RefundServices,
  job: LockedJob,
  unproven: UnprovenResult,
): Promise<ApiError> {
  const { escrow, work } = services;
  if (unproven.kind === 'overdue') return timeOut(services, job);
  const hadWorker = unproven.kind !== 'failed' || !(unproven.busy || unproven.isRefused);
  const failing = escrow.fail(job, reasonOf(unproven, job), { hadWorker });
  // Where this fails, the keeper refunds.
  const known = await awaitReturn(services, job, work.trackToEnd(job, failing));
  if (unproven.kind === 'context_exceeded') return contextExceeded(job, refundTxOf(known));
  if (unproven.kind === 'refused') return requestRefused(job, unproven.param, refundTxOf(known));
  if (unproven.kind === 'failed' && unproven.busy && known?.result.status !== 'refunded') {
    return noCapacity(job, unproven.busy.retryAfterMs);
  }
  return known ? endingError(job, known) : uncharged('worker_failed', job);
}

async function timeOut(services: RefundServices, job: LockedJob): Promise<ApiError> {
  const refunding = services.work.trackToEnd(job, refundWhenDue(services, job));
  await services.clock.waitUntil(job.deadlines.refundableAt);
  const known = await awaitReturn(services, job, refunding);
  return known ? endingError(job, known) : uncharged('job_timeout', job);
}

/** Waits for the moment from which anyone may refund, and does. */
export async function refundWhenDue(
  { clock, escrow }: Pick<RefundServices, 'clock' | 'escrow'>,
  job: LockedJob,
): Promise<JobResult> {
  await clock.waitUntil(job.deadlines.refundableAt);
  return escrow.refund(job);
}

/** The job's end, and the mirror's record of it, as far as both are known in time. */
async function awaitReturn(
  { work, time = systemTime }: RefundServices,
  job: LockedJob,
  ending: Promise<JobResult | undefined>,
): Promise<KnownResult | undefined> {
  const dueMs = time.nowMs() + RETURN_WAIT_MS;
  const result = await within(RETURN_WAIT_MS, ending, time);
  if (!result) return undefined;
  const timeoutMs = Math.min(MIRROR_WAIT_MS, Math.max(0, dueMs - time.nowMs()));
  return { result, record: await work.awaitMirror(job, result, { timeoutMs }) };
}

const failureReasons = {
  context_exceeded: 'context_length_exceeded',
  refused: 'worker_error',
  client_gone: 'client_gone',
} as const;

function reasonOf(
  unproven: Exclude<UnprovenResult, { kind: 'overdue' }>,
  { tokenLimit }: LockedJob,
) {
  if (unproven.kind === 'failed') return unproven.reason;
  return unproven.kind === 'limit_reached'
    ? reasonOfUsedLimit(tokenLimit)
    : failureReasons[unproven.kind];
}

/** The error for the client of a job that ended without a settlement. */
export function endingError(job: LockedJob, known: KnownResult): ApiError {
  const refundTx = refundTxOf(known);
  const { hasWorkerLeft, status } = known.result;
  if (hasWorkerLeft) return noCapacity(job);
  return uncharged(status === 'refunded' ? 'job_timeout' : 'worker_failed', job, refundTx);
}

/** Of our transaction, or of another sender's as the mirror has it; null while neither is known. */
function refundTxOf(known: KnownResult | undefined): string | null {
  return known?.result.signature ?? known?.record?.refund_tx ?? null;
}

/** The details of the error of every job that ended without a charge. */
function unchargedDetails(job: LockedJob, refundTx: string | null) {
  return {
    job_id: job.id,
    credits_refunded: creditsNumber(job.lockCredits),
    refund_tx: refundTx,
  };
}

const UNCHARGED = {
  worker_failed: 'No worker produced a proven answer; nothing is charged.',
  job_timeout: `No worker finished within ${JOB_TIMEOUT_SECONDS} seconds.`,
} as const;

/** @param refundTx null when it was not confirmed in time that the credits are back */
function uncharged(
  code: keyof typeof UNCHARGED,
  job: LockedJob,
  refundTx: string | null = null,
): ApiError {
  return new ApiError(code, UNCHARGED[code], { details: unchargedDetails(job, refundTx) });
}

/** Every worker that was asked was busy, or has left; nothing is charged. */
function noCapacity(job: LockedJob, retryAfterMs = 1_000): ApiError {
  const seconds = Math.ceil(retryAfterMs / 1_000);
  // Less than a second would be no wait.
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

function requestRefused(
  job: LockedJob,
  param: string | undefined,
  refundTx: string | null,
): ApiError {
  const what = param === undefined ? 'the request' : `'${param}'`;
  return new ApiError(
    'invalid_request',
    `The model's server refuses ${what} as it was sent; nothing is charged.`,
    { param, details: unchargedDetails(job, refundTx) },
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
