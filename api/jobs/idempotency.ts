import type { Logger } from '../../common/logger.ts';
import { batched, type Database } from '../../common/postgres.ts';
import { createSealing } from '../../common/sealing.ts';
import { createBackground, delay } from '../../common/wait.ts';
import {
  claimRequests,
  deleteRequest,
  expireRequests,
  type LeaseKey,
  loseRequest,
  type NewAnswer,
  type NewRequest,
  renewLeases,
  storeAnswers,
} from '../sql/requests.ts';
import type {
  AnswerCopy,
  Claim,
  NewClaim,
  Replay,
  RequestIdentity,
  ResponseReport,
} from './claim.ts';
import { claimRepeat, type RepeatServices } from './repeats.ts';

const ANSWER_LIFETIME_SECONDS = 600;
const RENEWAL_INTERVAL_MS = 5_000;
/** No job lasts longer, however it ends. */
const LEASED_MS_MAX = 180_000;
/** A younger request needs no renewal yet: the next one is in time for it. */
const RENEWED_AFTER_MS = RENEWAL_INTERVAL_MS - 500;
/** Between two tries to write what became of a response; for as long as the request is kept. */
const WRITE_RETRY_MS = 5_000;
const WRITE_TRIES_MAX = 120;
/** Statements that several requests share. */
const SHARED = { itemsMax: 64, callsMax: 2 };

export type Idempotency = ReturnType<typeof createIdempotency>;

/** Keeps a request that is sent again from being charged again. */
export function createIdempotency(services: RepeatServices) {
  const { database } = services;
  const claims = createClaims(services);
  const claimTogether = batched<NewRequest, Buffer>({
    ...SHARED,
    call: (requests) => claimRequests(database, requests),
  });
  return {
    /**
     * Claims a request for the job that it will become. For one that may be a repeat, looks for the
     * earlier one first. Any other is stored beside earlier ones with the same body.
     *
     * @param jobId of the job that the request will become; no lock of it was sent yet
     * @throws ApiError idempotency_key_in_use, idempotency_key_reused or idempotency_key_mismatch
     */
    async claim(request: RequestIdentity, jobId: string): Promise<Claim> {
      if (request.mayRepeat) return claimRepeat({ ...services, ...claims }, request, jobId);
      const sinceMs = performance.now();
      const requestKey = await claimTogether({ ...request, jobId });
      return claims.newClaim(request, { requestKey, jobId }, sinceMs);
    },
    /** Renews no more leases, and resolves once what became of responses is written. */
    close: claims.close,
  };
}

/** Makes claims of rows that are written. It renews their leases and writes what became of them. */
function createClaims({ database, logger }: Pick<RepeatServices, 'database' | 'logger'>) {
  const leases = createLeases({ database, logger });
  const writes = createWrites(logger);
  const expire = batched<LeaseKey, void>({
    ...SHARED,
    call: (keys) => expireRequests(database, keys),
  });
  const store = batched<NewAnswer, void>({
    ...SHARED,
    call: (answers) => storeAnswers(database, answers),
  });

  /** @param onOver called once, with the first report */
  function createReport(key: LeaseKey, onOver: () => void): ResponseReport {
    let isOver = false;
    const conclude = (what: () => Promise<void>): void => {
      if (isOver) return;
      isOver = true;
      onOver();
      writes.add(what);
    };
    return {
      delivered: () => conclude(() => expire(key)),
      lost: () => conclude(() => loseRequest(database, key)),
    };
  }

  return {
    newClaim: createNewClaims({ database, leases, store, createReport }),
    /** An answer that is given again: while it is, no other repeat may have it. */
    newReplay(key: LeaseKey, copy: AnswerCopy): Replay {
      const endLease = leases.hold(key, performance.now());
      return { status: 'replay', jobId: key.jobId, copy, ...createReport(key, endLease) };
    },
    async close(): Promise<void> {
      writes.stop();
      leases.close();
      await writes.drain();
    },
  };
}

function createNewClaims(rows: {
  database: Database;
  leases: ReturnType<typeof createLeases>;
  store: (answer: NewAnswer) => Promise<void>;
  createReport: (key: LeaseKey, onOver: () => void) => ResponseReport;
}) {
  const { database, leases, store, createReport } = rows;

  /** @param sinceMs when, by `performance.now()`, its row was not written yet */
  return (
    request: RequestIdentity,
    own: { jobId: string; requestKey: Buffer },
    sinceMs: number,
  ): NewClaim => {
    const { wallet, hasKey } = request;
    const key: LeaseKey = { wallet, ...own };
    const endLease = leases.hold(key, sinceMs);
    // Its row is of use for as long as the job runs or the response may still be delivered.
    const isOver = { job: false, response: hasKey, isDelivered: false, isReleased: false };
    const endWhenOver = (): void => {
      if (isOver.job && isOver.response) endLease();
    };
    const report = createReport(key, () => {
      isOver.response = true;
      endWhenOver();
    });
    return {
      status: 'new',
      end() {
        isOver.job = true;
        endWhenOver();
      },
      delivered() {
        if (hasKey) return;
        isOver.isDelivered = true;
        report.delivered();
      },
      lost() {
        if (!hasKey && !isOver.isReleased) report.lost();
      },
      async release() {
        isOver.isReleased = true;
        endLease();
        await deleteRequest(database, key);
      },
      async store(copy) {
        // A stream's client has it already.
        if (isOver.isDelivered) return;
        const sealed = createSealing(request.copyKey()).seal(JSON.stringify(copy));
        await store({ ...key, sealed, lifetimeSeconds: ANSWER_LIFETIME_SECONDS });
      },
    };
  };
}

/** Writes what became of responses, again until it is written. */
function createWrites(logger: Logger) {
  const closing = new AbortController();
  const background = createBackground();

  /** Until it is written, a twin's repeat may be given an answer that was delivered. */
  async function write(what: () => Promise<void>): Promise<void> {
    for (let tries = 1; tries <= WRITE_TRIES_MAX; tries += 1) {
      try {
        return await what();
      } catch (error) {
        logger.warn({ msg: 'Failed to write what became of a response', err: error });
      }
      await delay(WRITE_RETRY_MS, closing.signal);
      if (closing.signal.aborted) return;
    }
  }

  return {
    add: (what: () => Promise<void>): void => background.add(write(what)),
    /** Tries nothing again that fails from now on. */
    stop: (): void => closing.abort(),
    drain: background.drain,
  };
}

interface Held {
  key: LeaseKey;
  sinceMs: number;
}

/** Renews the leases of this process's requests, in one statement for all every few seconds. */
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
