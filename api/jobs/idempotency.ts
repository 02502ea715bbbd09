import type { Response } from 'express';
import { type Database, gather } from '../../common/postgres.ts';
import { createSealing, type Sealing, SealingError } from '../../common/sealing.ts';
import { JOB_ID_AGE_MS_MAX } from '../../programs/client/generated/constants.ts';
import { jobIdTimeMs, parseJobId } from '../../programs/client/jobId.ts';
import { ApiError } from '../http/contracts/errors.ts';
import { createDelivery, type FinishReason, type Usage } from '../http/response/delivery.ts';
import {
  claimRequest,
  claimRequests,
  deleteRequest,
  type IdempotentRequestRow,
  insertRequest,
  type NewAnswer,
  type NewRequest,
  selectRequest,
  storeAnswer,
  storeAnswers,
  takeOverRequest,
} from '../sql/requests.ts';
import type { LookedUpStatus } from './job.ts';
import type { RequestIdentity, RequestName } from './requestIdentity.ts';

/** All that a repeated request needs to be answered like the first. */
export interface AnswerCopy {
  text: string;
  finishReason: FinishReason;
  /** Missing in copies of earlier releases. */
  isTruncated?: boolean;
  usage: Usage;
  modelId: string;
  created: number;
  escrowTx: string;
  worker: { address: string; engine: string | null };
  outputHash: string;
  deliveryReceipt: string;
}

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

/** Gives the answer of an earlier request again, in the form that this one asks for. */
export function replayAnswer(options: {
  response: Response;
  jobId: string;
  copy: AnswerCopy;
  settlementTx: string | null;
  creditsRemaining: number | null;
  isStream: boolean;
  includeUsage: boolean;
  publicUrl: string;
}): void {
  const { response, jobId, copy, settlementTx, creditsRemaining } = options;
  response.set({
    'x-svc-job-id': jobId,
    'x-svc-tx-signature': copy.escrowTx,
    'x-svc-replayed': 'true',
  });
  const identity = { jobId, modelId: copy.modelId, created: copy.created };
  const delivery = createDelivery({ ...options, identity });
  delivery.begin(copy.worker);
  delivery.write(copy.text);
  const { finishReason, isTruncated = false, usage } = copy;
  delivery.finish({ finishReason, isTruncated, usage });
  const { outputHash, deliveryReceipt } = copy;
  delivery.settled({ settlementTx, creditsRemaining, outputHash, deliveryReceipt });
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
  /** Before its settlement is sent, so that no charge is ever without its answer. */
  store(copy: AnswerCopy): Promise<void>;
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
}

const ANSWER_LIFETIME_SECONDS = 600;
/**
 * What is asked may not show a lock that landed at the last moment: the program counts whole seconds
 * of its own slot, and what is finalized is many slots behind.
 */
const LOCK_UNSEEN_MS_MAX = 30_000;
const IN_USE_RETRY_SECONDS = 2;
/** Statements that several requests share. */
const SHARED = { itemsMax: 64, callsMax: 2 };

/**
 * @param services.findStatus a job's state in the mirror, else on the ledger; undefined where
 *   neither has it
 * @param services.nowMs the ledger's time
 */
export function createIdempotency(services: {
  database: Database;
  findStatus: (key: { wallet: string; jobId: string }) => Promise<LookedUpStatus | undefined>;
  nowMs: () => number;
}): Idempotency {
  const { database, findStatus, nowMs } = services;
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

  function claimed(request: RequestIdentity, jobId: string): NewClaim {
    const key = { ...request, jobId };
    return {
      status: 'new',
      async release() {
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

  /** Whether the earlier request's job ended, or never began, without a charge. */
  async function isFree(wallet: string, earlier: IdempotentRequestRow): Promise<boolean> {
    const { job_id: jobId } = earlier;
    // A lock may land while its job is asked for.
    const lookedUpAtMs = nowMs();
    const status = await findStatus({ wallet, jobId });
    switch (status) {
      case undefined: {
        const id = parseJobId(jobId);
        // The program refuses to lock a job whose id is older, so that one can never appear any more.
        const unseenAgeMs = JOB_ID_AGE_MS_MAX + LOCK_UNSEEN_MS_MAX;
        if (id && lookedUpAtMs - jobIdTimeMs(id) <= unseenAgeMs) throw inUse(jobId);
        return true;
      }
      case 'pending':
      case 'processing':
      case 'settling':
        throw inUse(jobId);
      case 'closed':
        // It may have been charged: its answer, if it is kept, is what its client is owed.
        if (earlier.answer) return false;
        throw inUse(jobId);
      case 'failed':
      case 'refunded':
        return true;
      case 'settled':
      case 'disputed':
        return false;
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
  ): Promise<Replay | undefined> {
    if (!earlier.body_hmac.equals(request.bodyHmac)) {
      throw new ApiError(
        'idempotency_key_mismatch',
        'This Idempotency-Key was used with another body.',
        { details: { job_id: earlier.job_id } },
      );
    }
    if (await isFree(request.wallet, earlier)) return undefined;
    const copy = earlier.answer && openCopy(earlier.answer, createSealing(request.copyKey()));
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
    const answered = await replay(request, earlier);
    if (answered) return answered;
    if (await takeOverRequest(database, { ...request, jobId }, earlier.job_id)) {
      return claimed(request, jobId);
    }
    // Another repeat came first.
    throw await inUseNow(request, earlier.job_id);
  }

  async function claimByName(request: RequestIdentity, jobId: string): Promise<Claim> {
    const own = { ...request, jobId };
    if (await insertRequest(database, own)) return claimed(request, jobId);
    const earlier = await selectRequest(database, request);
    if (earlier) return repeat(request, jobId, earlier);
    // It ended in this very moment, without a job.
    if (await insertRequest(database, own)) return claimed(request, jobId);
    throw await inUseNow(request, jobId);
  }

  /** Ends what the request was under its previous name, if nothing was charged for it. */
  async function replayPrevious(previous: RequestName): Promise<Replay | undefined> {
    const earlier = await selectRequest(database, previous);
    if (!earlier) return undefined;
    const answered = await replay(previous, earlier);
    if (answered) return answered;
    if (await deleteRequest(database, { ...previous, jobId: earlier.job_id })) return undefined;
    throw await inUseNow(previous, earlier.job_id);
  }

  return {
    async claim(request, jobId) {
      if (!request.mayRepeat) {
        await claimTogether({ ...request, jobId });
        return claimed(request, jobId);
      }
      const claim = await claimByName(request, jobId);
      if (claim.status === 'replay' || !request.previousName) return claim;
      // Only once it is claimed: two processes that each look for the other's name cannot both miss.
      let answered: Replay | undefined;
      try {
        answered = await replayPrevious(request.previousName);
      } catch (error) {
        await claim.release();
        throw error;
      }
      if (answered) await claim.release();
      return answered ?? claim;
    },
  };
}

function inUse(jobId: string): ApiError {
  return new ApiError('idempotency_key_in_use', 'The same request is still being answered.', {
    details: { job_id: jobId },
    retryAfterSeconds: IN_USE_RETRY_SECONDS,
  });
}
