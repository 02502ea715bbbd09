import type { Logger } from '../../common/logger.ts';
import type { Database } from '../../common/postgres.ts';
import { createSealing, type Sealing, SealingError } from '../../common/sealing.ts';
import { RETRY_AFTER_SECONDS_MAX } from '../../common/workerProtocol.ts';
import { JOB_ID_AGE_MS_MAX } from '../../programs/client/generated/constants.ts';
import { jobIdTimeMs, parseJobId } from '../../programs/client/jobId.ts';
import { ApiError } from '../contracts/errors.ts';
import type { LookedUpStatus } from '../ledger/jobLookup.ts';
import {
  type IdempotentRequestRow,
  insertRequest,
  selectAnswer,
  selectRequests,
  takeLease,
  takeLost,
  takeOverRequest,
} from '../sql/repeats.ts';
import { LEASE_SECONDS, type LeaseKey } from '../sql/requests.ts';
import type { AnswerCopy, Claim, NewClaim, Replay, RequestIdentity } from './claim.ts';

/**
 * A lock that landed at the last moment may not be visible yet. The program counts whole seconds of its
 * own slot, and what is finalized is many slots behind.
 */
const LOCK_UNSEEN_MS_MAX = 30_000;
const IN_USE_RETRY_SECONDS = 2;
/** Two renewals were missed: its process has ended, or hangs. */
const LEASE_SECONDS_ALIVE = LEASE_SECONDS - 10;

/** What repeats are judged by. */
export interface RepeatServices {
  database: Database;
  /** A job's state in the mirror, else on the ledger; undefined where neither has it. */
  findStatus: (key: { wallet: string; jobId: string }) => Promise<LookedUpStatus | undefined>;
  /** Ends a job that no process runs any more; a settled one stays settled. */
  failOrphan: (key: { wallet: string; jobId: string }) => Promise<LookedUpStatus>;
  /** The ledger's time. */
  nowMs: () => number;
  logger: Logger;
}

interface RepeatContext extends RepeatServices {
  /** Makes the claim of a request whose row is written. */
  newClaim: (
    request: RequestIdentity,
    own: { jobId: string; requestKey: Buffer },
    sinceMs: number,
  ) => NewClaim;
  /** Makes the claim of an answer that this repeat alone may give again. */
  newReplay: (key: LeaseKey, copy: AnswerCopy) => Replay;
}

/**
 * Claims what may be a repeat: its answer as it was, or the right to run.
 *
 * @throws ApiError idempotency_key_in_use, idempotency_key_reused or idempotency_key_mismatch
 */
export async function claimRepeat(
  context: RepeatContext,
  request: RequestIdentity,
  jobId: string,
): Promise<Claim> {
  const first = request.hasKey ? await insert(context, request, jobId) : undefined;
  if (first) return first;
  const { replay, uncharged } = await findEarlier(context, request, jobId);
  if (replay) return replay;
  if (!uncharged) {
    // There is none, or it ended in this very moment, without a job.
    const own = await insert(context, request, jobId);
    if (own) return own;
    throw await inUseNow(context, request, jobId);
  }
  const sinceMs = performance.now();
  const { requestKey } = uncharged;
  const taking = { ...request, requestKey, jobId };
  if (await takeOverRequest(context.database, taking, uncharged.jobId)) {
    return context.newClaim(request, { requestKey, jobId }, sinceMs);
  }
  // Another repeat came first.
  throw await inUseNow(context, request, uncharged.jobId);
}

async function insert(
  { database, newClaim }: RepeatContext,
  request: RequestIdentity,
  jobId: string,
): Promise<NewClaim | undefined> {
  const sinceMs = performance.now();
  if (!(await insertRequest(database, { ...request, jobId }))) return undefined;
  return newClaim(request, { requestKey: request.requestKey, jobId }, sinceMs);
}

/** Another request took this one in this moment. */
async function inUseNow(
  { database }: RepeatContext,
  request: RequestIdentity,
  jobId: string,
): Promise<ApiError> {
  const [running] = await selectRequests(database, request, { hasTwins: !request.hasKey });
  return inUse(running?.job_id ?? jobId);
}

/**
 * Looks for what a repeat repeats: under an Idempotency-Key its one request. Without one, of those with
 * its body, one whose answer may have been lost. Of several, one that was charged comes first.
 *
 * @returns its answer; or the row whose place the repeat may take, since nothing was charged for it
 * @throws ApiError while one that may be it runs, or when its answer is no longer stored
 */
async function findEarlier(
  context: RepeatContext,
  request: RequestIdentity,
  jobId: string,
): Promise<{ replay?: Replay; uncharged?: LeaseKey | undefined }> {
  const { database, newReplay } = context;
  let refusal: ApiError | undefined;
  let uncharged: LeaseKey | undefined;
  for (const row of await selectRequests(database, request, { hasTwins: !request.hasKey })) {
    if (!request.hasKey && !row.is_lost) {
      // Its client waits for it, as far as we know, and may lose it yet.
      refusal ??= uncharged ? undefined : inUse(row.job_id);
      continue;
    }
    const { wallet } = request;
    const key: LeaseKey = { wallet, requestKey: row.request_key, jobId: row.job_id };
    try {
      const copy = await answerOf(context, { ...request, requestKey: row.request_key }, row, jobId);
      if (!copy) uncharged ??= key;
      else if (request.hasKey) return { replay: { ...REPEATABLE, jobId: row.job_id, copy } };
      else if (await takeLost(database, key, jobId)) return { replay: newReplay(key, copy) };
      else refusal ??= inUse(row.job_id);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refusal ??= error;
    }
  }
  if (refusal) throw refusal;
  return { uncharged };
}

/** @returns undefined when the earlier request was not charged and never will be */
async function answerOf(
  context: RepeatContext,
  request: RequestIdentity,
  earlier: IdempotentRequestRow,
  jobId: string,
): Promise<AnswerCopy | undefined> {
  if (!earlier.body_hmac.equals(request.bodyHmac)) {
    throw new ApiError(
      'idempotency_key_mismatch',
      'This Idempotency-Key was used with another body, or for another format.',
      { details: { job_id: earlier.job_id } },
    );
  }
  const charge = await findCharge(context, request, earlier, jobId);
  if (charge === 'none') return undefined;
  // Read last: an answer is stored before its charge, so what was charged by then is stored by now.
  const answer = await selectAnswer(context.database, earlier.job_id);
  if (!answer && charge === 'unknown') throw inUse(earlier.job_id);
  const copy = answer && openCopy(answer, createSealing(request.copyKey()));
  if (copy) return copy;
  throw new ApiError(
    'idempotency_key_reused',
    'This request was answered and charged before, and its answer is no longer kept.',
    { details: { job_id: earlier.job_id } },
  );
}

/**
 * Whether the earlier request was charged. A job that no process runs any more is ended first.
 *
 * @throws ApiError idempotency_key_in_use while it runs, or may begin
 */
async function findCharge(
  context: RepeatContext,
  request: RequestIdentity,
  earlier: IdempotentRequestRow,
  jobId: string,
): Promise<Charge> {
  const { database, findStatus, failOrphan, nowMs, logger } = context;
  const { wallet } = request;
  const { job_id: earlierId } = earlier;
  // A lock may land while its job is looked up.
  const lookedUpAtMs = nowMs();
  const status = await findStatus({ wallet, jobId: earlierId });
  switch (status) {
    case undefined: {
      const leftMs = unseenMs(earlierId, lookedUpAtMs);
      if (leftMs >= 0) throw inUse(earlierId, isAlive(earlier) ? undefined : leftMs / 1_000);
      return 'none';
    }
    case 'pending':
    case 'processing':
    case 'settling': {
      const { lease_seconds } = earlier;
      if (lease_seconds > 0) throw inUse(earlierId, isAlive(earlier) ? undefined : lease_seconds);
      if (!(await takeLease(database, { ...request, jobId: earlierId }, jobId))) {
        throw inUse(earlierId);
      }
      // The process that ran it may still settle it. The ledger lets one of both end the job, and
      // its repeat runs only if it failed.
      const ended = await failOrphan({ wallet, jobId: earlierId });
      logger.warn({ msg: 'Ended a job that no process ran', job_id: earlierId, status: ended });
      return chargeOf(ended);
    }
    default:
      return chargeOf(status);
  }
}

/** For how long a job that the ledger lacks may still appear there; negative if it never will. */
function unseenMs(jobId: string, lookedUpAtMs: number): number {
  const id = parseJobId(jobId);
  // The program refuses to lock a job whose id is older, so that one can never appear any more.
  return id ? JOB_ID_AGE_MS_MAX + LOCK_UNSEEN_MS_MAX - (lookedUpAtMs - jobIdTimeMs(id)) : -1;
}

/** Under an Idempotency-Key an answer is given again whether or not it was delivered. */
const REPEATABLE = {
  status: 'replay',
  delivered: () => undefined,
  lost: () => undefined,
} as const;

/** @returns undefined when the copy was sealed under another key: the API key was regenerated */
function openCopy(sealed: Uint8Array, sealing: Sealing): AnswerCopy | undefined {
  try {
    return JSON.parse(sealing.open(sealed));
  } catch (error) {
    if (error instanceof SealingError) return undefined;
    throw error;
  }
}

/** @param seconds until the request may be run again, where no process runs it */
function inUse(jobId: string, seconds: number = IN_USE_RETRY_SECONDS): ApiError {
  return new ApiError('idempotency_key_in_use', 'The same request is still being answered.', {
    details: { job_id: jobId },
    retryAfterSeconds: Math.min(Math.max(1, Math.ceil(seconds)), RETRY_AFTER_SECONDS_MAX),
  });
}

/** Whether a process renewed the lease lately. */
function isAlive({ lease_seconds }: IdempotentRequestRow): boolean {
  return lease_seconds > LEASE_SECONDS_ALIVE && lease_seconds <= LEASE_SECONDS;
}

/** `unknown`: the job is closed, and the mirror does not show yet how it ended. */
type Charge = 'none' | 'charged' | 'unknown';

function chargeOf(status: LookedUpStatus): Charge {
  if (status === 'failed' || status === 'refunded') return 'none';
  return status === 'closed' ? 'unknown' : 'charged';
}
