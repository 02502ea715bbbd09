import type { Logger } from '../../common/logger.ts';
import { type Time, within } from '../../common/wait.ts';
import type { LedgerClock } from '../../programs/client/sender/ledgerClock.ts';
import type { Escrow } from '../ledger/escrow.ts';
import type { LockedJob, WholeAnswer } from '../ledger/job.ts';
import type { Reservation } from '../workers/capacity.ts';
import type { WorkerClient } from '../workers/client.ts';
import type { WorkerDirectory } from '../workers/directory.ts';
import { PROBE_INTERVAL_MS } from '../workers/health.ts';
import {
  type AttemptEnd,
  runAttempt,
  type StartedEvent,
  type TextEvent,
  type UnprovenEnd,
} from './attempt.ts';
import { canEmpty, canSilence } from './emptyAnswers.ts';

/** How many workers are tried for one job. */
const ATTEMPTS_MAX = 3;

export interface DispatchServices {
  directory: Pick<WorkerDirectory, 'reserve' | 'active' | 'refresh'>;
  workers: WorkerClient;
  escrow: Pick<Escrow, 'undeliveredProof'>;
  clock: LedgerClock;
  time?: Time;
  logger: Logger;
}

/** A locked job, and the worker that is to have it first. */
export interface Dispatchable {
  job: LockedJob;
  reservation: Reservation;
  /** The chat-completions fields that matter to an engine. */
  chat: Record<string, unknown>;
  /** How long a worker may be silent before its first text or reasoning. */
  firstSilenceMs: number;
  clientGone: AbortSignal;
  /** Whether text is read as it comes, so that no other worker may begin anew behind it. */
  isStream: boolean;
}

/** What happens to a job between its lock and its end; `whole` or `unproven` comes last. */
type DispatchEvent =
  | StartedEvent
  | TextEvent
  /** The text so far counts for nothing: another worker begins anew. Never in a stream. */
  | { type: 'discarded' }
  | { type: 'whole'; answer: WholeAnswer }
  | { type: 'unproven'; end: UnprovenEnd };

/** How long a job whose worker failed waits for capacity at another: as long as a new request does. */
const FAILOVER_WAIT_MS = 2_000;
/** How long the ledger may take to tell who proved something, before another worker is asked. */
const PROVER_WAIT_MS = 1_000;
/** Where a busy worker names no time. */
const RETRY_AFTER_MS = 2_000;

/**
 * Gets a locked job answered: asks the worker whose capacity is reserved, then others while nobody has
 * read any text or reasoning. Gives back all capacity that it holds, also when its consumer stops.
 */
export async function* dispatch(
  services: DispatchServices,
  dispatchable: Dispatchable,
): AsyncGenerator<DispatchEvent, void> {
  const { directory, clock, time, workers, logger } = services;
  const { job, chat, firstSilenceMs, clientGone, isStream } = dispatchable;
  const { model, deadlines } = job;
  // Each worker is tried once, so that their number is the number of the attempt.
  const tried = new Map<string, Reservation>();
  /** Those whose failure counts already. */
  const blamed = new Set<Reservation>();
  let successor: Reservation | undefined;

  // A worker that is asked later than this could not prove anything in time.
  const mayTryAnother = (): boolean =>
    tried.size < ATTEMPTS_MAX && clock.nowSeconds() < deadlines.stopAt;

  const reserve = (waitMs: number, signal?: AbortSignal): Promise<Reservation | undefined> => {
    const wish = { modelAddress: model.address, except: new Set(tried.keys()), waitMs };
    return directory.reserve({ ...wish, ...(signal && { signal }) });
  };

  async function findSuccessor(silence: AbortSignal): Promise<void> {
    if (successor || !mayTryAnother()) return;
    const found = await reserve(FAILOVER_WAIT_MS, silence);
    if (silence.aborted) found?.release();
    else successor = found;
  }

  const hasOthers = (): boolean =>
    directory.active(model.address).some(({ address }) => !tried.has(address));

  async function reserveNext(): Promise<Reservation | undefined> {
    return mayTryAnother() ? reserve(hasOthers() ? FAILOVER_WAIT_MS : 0) : undefined;
  }

  const isEmpty = (end: AttemptEnd): boolean =>
    end.kind === 'failed' && end.reason === 'empty_output';

  /** Whether the request itself can be why it came to nothing: one more worker is asked at most. */
  const canBeCaused = (end: AttemptEnd): boolean =>
    end.kind === 'refused' || (isEmpty(end) && canEmpty(chat, job.tokenLimit));

  /** Whether it counts against the worker only if another answers the same request. */
  function isDoubtful(end: AttemptEnd): boolean {
    const isSilent = end.kind === 'failed' && end.cause === 'silent' && !end.hasBegun;
    return (
      end.kind === 'refused' ||
      (isEmpty(end) && !canBeCaused(end)) ||
      (isSilent && canSilence(chat))
    );
  }

  /** Counts a failure against a worker, once for a job. */
  function blame(reservation: Reservation, msg: string): void {
    if (blamed.has(reservation)) return;
    reservation.failed();
    blamed.add(reservation);
    logger.warn({ msg, job_id: job.id, worker: reservation.worker.address });
  }

  /**
   * A proof on the ledger that was not delivered here is its prover's fault, whatever he said: no
   * other worker may suffer for it.
   */
  async function blameProver(): Promise<void> {
    const proven = await within(PROVER_WAIT_MS, services.escrow.undeliveredProof(job), time);
    if (!proven) return;
    const prover = tried.get(proven.workerAddress);
    if (prover) blame(prover, 'A worker proved what it did not deliver');
  }

  /**
   * The pool is up to a second behind the ledger. A worker that left, moved or changed its key in that time
   * cannot answer, and has not failed.
   */
  async function excuseChanged(reservation: Reservation, end: AttemptEnd): Promise<AttemptEnd> {
    if (end.kind !== 'failed' || end.reason !== 'worker_error') return end;
    if (end.hasBegun || end.busy) return end;
    await refreshed(directory, time);
    if (!reservation.hasChanged()) return end;
    const cause = 'its terms on the ledger changed';
    return { ...end, cause, busy: { retryAfterMs: undefined }, isRefused: false };
  }

  async function* attemptAt(reservation: Reservation): AsyncGenerator<DispatchEvent, AttemptEnd> {
    const { worker } = reservation;
    tried.set(worker.address, reservation);
    const attempt = tried.size;
    const { id: jobId, address: jobAddress, tokenLimit } = job;
    const { endpoint, address: workerAddress } = worker;
    const task = { endpoint, workerAddress, jobId, jobAddress, attempt, tokenLimit, chat };
    try {
      const end = yield* runAttempt({
        reservation,
        task,
        workers,
        clock,
        ...(time && { time }),
        deadlines,
        firstSilenceMs,
        findSuccessor,
        clientGone,
        isStream,
      });
      const judged = await excuseChanged(reservation, end);
      const isOpen = canBeCaused(judged) || isDoubtful(judged);
      if (recordFailure(logger, { job, reservation, attempt, end: judged, isOpen })) {
        blamed.add(reservation);
      }
      return judged;
    } finally {
      reservation.release();
    }
  }

  let { reservation } = dispatchable;
  /** How the first attempt ended that the request itself may have caused. */
  let caused: UnprovenEnd | undefined;
  /** Those that gave nothing for the request, which counts against them if another worker answers it. */
  const doubted: Reservation[] = [];
  const capacity = createCapacityNotes();
  try {
    for (;;) {
      const end = yield* attemptAt(reservation);
      if (end.kind === 'whole') {
        for (const one of doubted) blame(one, 'A worker gave nothing where another answered');
        return yield { type: 'whole', answer: end.answer };
      }
      capacity.note(end);
      const hasFailed = end.kind === 'failed';
      if (isDoubtful(end)) doubted.push(reservation);
      const mayGoOn = hasFailed ? !end.hasBegun || !isStream : end.kind === 'refused';
      if (hasFailed && mayGoOn) await blameProver();
      const next = mayGoOn && !caused ? (successor ?? (await reserveNext())) : undefined;
      if (!next) {
        // Three workers, or all that there are, blame none. One word against another blames both.
        const isAlone = hasFailed && !caused && tried.size < ATTEMPTS_MAX && hasOthers();
        if (isAlone) for (const one of doubted) blame(one, 'A worker gave nothing');
        const isOver = hasFailed || end.kind === 'refused';
        return yield { type: 'unproven', end: (isOver && caused) || capacity.judge(end) };
      }
      if (canBeCaused(end)) caused = end;
      if (hasFailed && end.hasBegun) yield { type: 'discarded' };
      successor = undefined;
      reservation = next;
    }
  } finally {
    successor?.release();
  }
}

/** How long the database may take to show the workers as they are now. */
const REFRESH_WAIT_MS = 1_000;

/** Resolves once the pool is as the mirror has it, or the database has taken too long. */
export async function refreshed(
  directory: Pick<WorkerDirectory, 'refresh'>,
  time: Time | undefined,
): Promise<void> {
  await within(
    REFRESH_WAIT_MS,
    directory.refresh().catch(() => undefined),
    time,
  );
}

/** When the worker may have a place again; undefined where it failed at the job itself. */
function waitAfter({ busy, isRefused }: Extract<UnprovenEnd, { kind: 'failed' }>) {
  if (busy) return busy.retryAfterMs ?? RETRY_AFTER_MS;
  return isRefused ? PROBE_INTERVAL_MS : undefined;
}

/**
 * Whether a job came to nothing for want of capacity alone: then its client is told when to come
 * again, by the soonest of the workers that were asked.
 */
function createCapacityNotes() {
  let isOnlyBusy = true;
  let retryAfterMs: number | undefined;
  return {
    note(end: AttemptEnd): void {
      const waitMs = end.kind === 'failed' ? waitAfter(end) : undefined;
      if (waitMs === undefined) isOnlyBusy = false;
      else retryAfterMs = Math.min(waitMs, retryAfterMs ?? Infinity);
    },
    judge(end: UnprovenEnd): UnprovenEnd {
      if (end.kind !== 'failed') return end;
      return { ...end, busy: isOnlyBusy ? { retryAfterMs } : undefined };
    },
  };
}

/** @returns whether it counts against the worker */
function recordFailure(
  logger: Logger,
  options: Pick<Dispatchable, 'job' | 'reservation'> & {
    attempt: number;
    end: AttemptEnd;
    /** Whether other workers will show it. */
    isOpen: boolean;
  },
): boolean {
  const { job, reservation, attempt, end, isOpen } = options;
  const about = { job_id: job.id, worker: reservation.worker.address, attempt };
  if (end.kind === 'overdue') {
    if (!end.isExcused) reservation.failed();
    logger.warn({ msg: 'A worker proved nothing in time', ...about });
    return !end.isExcused;
  }
  if (end.kind === 'failed') {
    const { reason, cause } = end;
    const counts = !end.busy && !isOpen;
    if (end.isRefused) reservation.refusedConnection();
    else if (end.busy) reservation.foundBusy(end.busy.retryAfterMs);
    else if (counts) reservation.failed();
    logger.warn({ msg: 'A worker failed at a job', ...about, reason, cause });
    return counts;
  }
  return false;
}
