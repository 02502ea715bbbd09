import type { Logger } from '../../common/logger.ts';
import { type Database, gather } from '../../common/postgres.ts';
import { createSealing, type Sealing, SealingError } from '../../common/sealing.ts';
import { JOB_ID_AGE_MS_MAX } from '../../programs/client/generated/constants.ts';
import { jobIdTimeMs, parseJobId } from '../../programs/client/jobId.ts';
import { ApiError } from '../http/contracts/errors.ts';
import {
  claimRequest,
  claimRequests,
  deleteRequest,
  type IdempotentRequestRow,
  insertRequest,
  LEASE_SECONDS,
  type LeaseKey,
  type NewAnswer,
  type NewRequest,
  renewLeases,
  selectAnswer,
  selectRequest,
  storeAnswer,
  storeAnswers,
  takeLease,
  takeOverRequest,
} from '../sql/requests.ts';
import type { LookedUpStatus } from './job.ts';
import type { AnswerCopy } from './replay.ts';
import type { RequestIdentity, RequestName } from './requestIdentity.ts';

function sealCopy(copy: AnswerCopy, sealing: Sealing): Buffer {
  return sealing.seal(JSON.stringify(copy));
}

/** @returns undefined when the copy was sealed under another key: the API key was regenerated */
function openCopy(sealed: Uint8Array, sealing: Sealing): AnswerCopy | undefined {
  try {
    return JSON.parse(sealing.open(sealed));
  } catch (error) {
    if (error instanceof SealingError) return undefined;
    throw error;
  }
}

/** The right to run a request, or the answer that it had before. */
type Claim = NewClaim | Replay;

interface Replay {
  status: 'replay';
  jobId: string;
  copy: AnswerCopy;
}

export interface NewClaim {
  status: 'new';
  /** Nothing was locked for it and nothing ever will be: the next one may run. */
  release(): Promise<void>;
  /** Before its settlement is sent, so that a repeat that finds the charge finds the answer. */
  store(copy: AnswerCopy): Promise<void>;
  /** The job has ended, or will not be settled: its lease is renewed no more. */
  end(): void;
}

/** Sees to it that the same request again is not charged again. */
export interface Idempotency {
  /**
   * Claims a request for the job that it will become. For one that may be a repeat, looks for the
   * earlier one first; any other takes the place of an earlier one.
   *
   * @param jobId of the job that the request will become; no lock of it was sent yet
   * @throws ApiError idempotency_key_in_use, idempotency_key_reused or idempotency_key_mismatch
   */
  claim(request: RequestIdentity, jobId: string): Promise<Claim>;
  /** Renews no more leases. */
  close(): void;
}

const ANSWER_LIFETIME_SECONDS = 600;
/**
 * What is asked may not show a lock that landed at the last moment: the program counts whole seconds
 * of its own slot, and what is finalized is many slots behind.
 */
const LOCK_UNSEEN_MS_MAX = 30_000;
const IN_USE_RETRY_SECONDS = 2;
/** Official clients ignore a longer Retry-After. */
const RETRY_AFTER_SECONDS_MAX = 60;
const RENEWAL_INTERVAL_MS = 5_000;
/** Two renewals were missed: its process has ended, or hangs. */
const LEASE_SECONDS_ALIVE = LEASE_SECONDS - 10;
/** No job lives longer, however it ends. */
const LEASED_MS_MAX = 180_000;
/** A younger request needs none yet: the next renewal is in time for it. */
const RENEWED_AFTER_MS = RENEWAL_INTERVAL_MS - 500;
/** Statements that several requests share. */
const SHARED = { itemsMax: 64, callsMax: 2 };

/**
 * @param services.findStatus a job's state in the mirror, else on the ledger; undefined where
 *   neither has it
 * @param services.failOrphan ends a job that no process runs any more; a settled one stays settled
 * @param services.nowMs the ledger's time
 */
export function createIdempotency(services: {
  database: Database;
  findStatus: (key: { wallet: string; jobId: string }) => Promise<LookedUpStatus | undefined>;
  failOrphan: (key: { wallet: string; jobId: string }) => Promise<LookedUpStatus>;
  nowMs: () => number;
  logger: Logger;
}): Idempotency {
  const { database, findStatus, failOrphan, nowMs, logger } = services;
  const leases = createLeases({ database, logger });
  const claimTogether = gather<NewRequest, void>({
    ...SHARED,
    callOne: (request) => claimRequest(database, request),
    call: async (requests) => {
      await claimRequests(database, requests);
      return [];
    },
  });
  const store = gather<NewAnswer, void>({
    ...SHARED,
    callOne: (answer) => storeAnswer(database, answer),
    call: async (answers) => {
      await storeAnswers(database, answers);
      return [];
    },
  });

  /** @param sinceMs when, by `performance.now()`, its row was not written yet */
  function claimed(request: RequestIdentity, jobId: string, sinceMs: number): NewClaim {
    const key = { ...request, jobId };
    const end = leases.hold(key, sinceMs);
    return {
      status: 'new',
      end,
      async release() {
        end();
        await deleteRequest(database, key);
      },
      store: (copy) =>
        store({
          ...key,
          sealed: sealCopy(copy, createSealing(request.copyKey())),
          lifetimeSeconds: ANSWER_LIFETIME_SECONDS,
        }),
    };
  }

  /**
   * Whether the earlier request was charged. A job that no process runs any more is ended first.
   *
   * @throws ApiError idempotency_key_in_use while it runs, or may begin
   */
  async function findCharge(
    request: RequestName,
    earlier: IdempotentRequestRow,
    jobId: string,
  ): Promise<Charge> {
    const { wallet } = request;
    const { job_id: earlierId } = earlier;
    // A lock may land while its job is asked for.
    const lookedUpAtMs = nowMs();
    const status = await findStatus({ wallet, jobId: earlierId });
    switch (status) {
      case undefined: {
        const id = parseJobId(earlierId);
        // The program refuses to lock a job whose id is older, so that one can never appear any more.
        const unseenAgeMs = JOB_ID_AGE_MS_MAX + LOCK_UNSEEN_MS_MAX;
        const leftMs = id ? unseenAgeMs - (lookedUpAtMs - jobIdTimeMs(id)) : -1;
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
        const end = await failOrphan({ wallet, jobId: earlierId });
        logger.warn({ msg: 'Ended a job that no process ran', job_id: earlierId, status: end });
        return chargeOf(end);
      }
      default:
        return chargeOf(status);
    }
  }

  /** Somebody else took the request in this moment. */
  async function inUseNow(request: RequestName, jobId: string): Promise<ApiError> {
    const running = await selectRequest(database, request);
    return inUse(running?.job_id ?? jobId);
  }

  /** @returns undefined when the earlier request was not charged and never will be */
  async function replay(
    request: RequestName,
    earlier: IdempotentRequestRow,
    jobId: string,
  ): Promise<Replay | undefined> {
    if (!earlier.body_hmac.equals(request.bodyHmac)) {
      throw new ApiError(
        'idempotency_key_mismatch',
        'This Idempotency-Key was used with another body.',
        { details: { job_id: earlier.job_id } },
      );
    }
    const charge = await findCharge(request, earlier, jobId);
    if (charge === 'none') return undefined;
    // Read last: an answer is stored before its charge, so what was charged by then is kept by now.
    const answer = await selectAnswer(database, { ...request, jobId: earlier.job_id });
    if (!answer && charge === 'unknown') throw inUse(earlier.job_id);
    const copy = answer && openCopy(answer, createSealing(request.copyKey()));
    if (copy) return { status: 'replay', jobId: earlier.job_id, copy };
    throw new ApiError(
      'idempotency_key_reused',
      'This request was answered and charged before, and its answer is no longer kept.',
      { details: { job_id: earlier.job_id } },
    );
  }

  async function repeat(
    request: RequestIdentity,
    jobId: string,
    earlier: IdempotentRequestRow,
  ): Promise<Claim> {
    const answered = await replay(request, earlier, jobId);
    if (answered) return answered;
    const sinceMs = performance.now();
    if (await takeOverRequest(database, { ...request, jobId }, earlier.job_id)) {
      return claimed(request, jobId, sinceMs);
    }
    // Another repeat came first.
    throw await inUseNow(request, earlier.job_id);
  }

  async function claimByName(request: RequestIdentity, jobId: string): Promise<Claim> {
    const own = { ...request, jobId };
    let sinceMs = performance.now();
    if (await insertRequest(database, own)) return claimed(request, jobId, sinceMs);
    const earlier = await selectRequest(database, request);
    if (earlier) return repeat(request, jobId, earlier);
    // It ended in this very moment, without a job.
    sinceMs = performance.now();
    if (await insertRequest(database, own)) return claimed(request, jobId, sinceMs);
    throw await inUseNow(request, jobId);
  }

  /** Ends what the request was under its previous name, if nothing was charged for it. */
  async function replayPrevious(previous: RequestName, jobId: string): Promise<Replay | undefined> {
    const earlier = await selectRequest(database, previous);
    if (!earlier) return undefined;
    const answered = await replay(previous, earlier, jobId);
    if (answered) return answered;
    if (await deleteRequest(database, { ...previous, jobId: earlier.job_id })) return undefined;
    throw await inUseNow(previous, earlier.job_id);
  }

  return {
    close: leases.close,
    async claim(request, jobId) {
      if (!request.mayRepeat) {
        const sinceMs = performance.now();
        await claimTogether({ ...request, jobId });
        return claimed(request, jobId, sinceMs);
      }
      const claim = await claimByName(request, jobId);
      if (claim.status === 'replay' || !request.previousName) return claim;
      // Only once it is claimed: two processes that each look for the other's name cannot both miss.
      let answered: Replay | undefined;
      try {
        answered = await replayPrevious(request.previousName, jobId);
      } catch (error) {
        await claim.release();
        throw error;
      }
      if (answered) await claim.release();
      return answered ?? claim;
    },
  };
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

interface Held {
  key: LeaseKey;
  sinceMs: number;
}

/** Keeps the leases of this process's requests, in one statement for all every few seconds. */
function createLeases({ database, logger }: { database: Database; logger: Logger }) {
  const held = new Set<Held>();
  let timer: NodeJS.Timeout | undefined;

  async function renewAll(): Promise<void> {
    const sentAtMs = performance.now();
    for (const one of held) if (sentAtMs - one.sinceMs > LEASED_MS_MAX) held.delete(one);
    const due = [...held].filter(({ sinceMs }) => sentAtMs - sinceMs >= RENEWED_AFTER_MS);
    try {
      const keys = due.map(({ key }) => key);
      const renewed = keys.length > 0 ? await renewLeases(database, keys) : undefined;
      for (const one of due) if (!renewed?.has(one.key.jobId)) held.delete(one);
    } catch (error) {
      // Once they are over, repeats may take these jobs for orphans. The first to reach the ledger ends a job.
      logger.warn({ msg: 'Failed to renew leases', err: error });
    }
    timer = held.size > 0 ? setTimeout(renewAll, RENEWAL_INTERVAL_MS) : undefined;
  }

  return {
    /** @returns what ends its renewals */
    hold(key: LeaseKey, sinceMs: number): () => void {
      const own: Held = { key, sinceMs };
      held.add(own);
      timer ??= setTimeout(renewAll, RENEWAL_INTERVAL_MS);
      return () => void held.delete(own);
    },
    close() {
      clearTimeout(timer);
      held.clear();
    },
  };
}
