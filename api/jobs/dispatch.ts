import type { Logger } from '../../common/logger.ts';
import { type Time, within } from '../../common/wait.ts';
import type { LedgerClock } from '../../programs/client/sender/ledgerClock.ts';
import type { Escrow } from '../ledger/escrow.ts';
import type { LockedJob } from '../ledger/job.ts';
import type { Reservation } from '../workers/capacity.ts';
import { taskOf, type WorkerChat, type WorkerClient } from '../workers/client.ts';
import type { WorkerDirectory } from '../workers/directory.ts';
import { PROBE_INTERVAL_MS } from '../workers/health.ts';
import {
  type AttemptResult,
  runAttempt,
  type StartedEvent,
  type TextEvent,
  type UnprovenResult,
} from './attempt.ts';
import { canEmpty, canSilence } from './emptyAnswers.ts';
import type { Asked } from './headStart.ts';

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
  chat: WorkerChat;
  /** How long a worker may be silent before its first text or reasoning. */
  firstSilenceMs: number;
  clientGone: AbortSignal;
  /** Whether text is read as it comes, so that no other worker may start again after it. */
  isStream: boolean;
  /** Set where the first worker was asked already. */
  asked?: Asked | undefined;
}

/** What happens to a job between its lock and its end; `ended` comes last. */
type DispatchEvent =
  | StartedEvent
  | TextEvent
  /** The text so far counts for nothing: another worker starts again. Never in a stream. */
  | { type: 'discarded' }
  | { type: 'ended'; result: AttemptResult };

/** How many workers are tried for one job. */
const ATTEMPTS_MAX = 3;
/** How long a job whose worker failed waits for capacity at another: as long as a new request does. */
const FAILOVER_WAIT_MS = 2_000;
/** How long the ledger may take to show who proved something, before another worker is asked. */
const PROVER_WAIT_MS = 1_000;
/** Where a busy worker names no time. */
const RETRY_AFTER_MS = 2_000;

/**
 * Gets a locked job answered: asks the worker whose capacity is reserved, then others while the client
 * has read no text or reasoning. Releases all capacity that it holds, also when its consumer stops.
 */
export async function* dispatch(
  services: DispatchServices,
  dispatchable: Dispatchable,
): AsyncGenerator<DispatchEvent, void> {
  const { job, isStream } = dispatchable;
  const tries = createTries(services, dispatchable);
  const capacity = createCapacityNotes();
  let { reservation } = dispatchable;
  /** The first result that the request itself may have caused. */
  let caused: UnprovenResult | undefined;
  /** Workers that gave no text, which counts against them if another answers the request. */
  const doubted: Reservation[] = [];
  try {
    for (;;) {
      const result = yield* attemptAt(services, dispatchable, { tries, reservation });
      if (result.kind === 'whole') {
        for (const one of doubted) tries.blame(one, 'A worker gave no text where another answered');
        return yield { type: 'ended', result };
      }
      capacity.note(result);
      const hasFailed = result.kind === 'failed';
      if (isDoubtful(result, dispatchable)) doubted.push(reservation);
      const mayGoOn = hasFailed ? !result.hasBegun || !isStream : result.kind === 'refused';
      if (hasFailed && mayGoOn) await blameProver(services, job, tries);
      const next = mayGoOn && !caused ? await tries.findNext() : undefined;
      if (!next) {
        // Three workers without text, or all that there are, are not blamed; fewer are.
        const isAlone = hasFailed && !caused && tries.areOthersLeft();
        if (isAlone) for (const one of doubted) tries.blame(one, 'A worker gave no text');
        const isOver = hasFailed
          ? caused?.kind === 'refused' || !breaksOff(result)
          : result.kind === 'refused';
        return yield { type: 'ended', result: (isOver && caused) || capacity.judge(result) };
      }
      if (canBeCaused(result, dispatchable)) caused = result;
      if (hasFailed && result.hasBegun) yield { type: 'discarded' };
      reservation = next;
    }
  } finally {
    tries.release();
  }
}

/** One worker's attempt at the job. @returns its result, once the worker is blamed or excused */
async function* attemptAt(
  services: DispatchServices,
  dispatchable: Dispatchable,
  { tries, reservation }: { tries: Tries; reservation: Reservation },
): AsyncGenerator<StartedEvent | TextEvent, AttemptResult> {
  const { workers, clock, time, logger } = services;
  const { job, chat, firstSilenceMs, clientGone, isStream } = dispatchable;
  const attempt = tries.add(reservation);
  try {
    const result = yield* runAttempt({
      reservation,
      task: taskOf(job, { worker: reservation.worker, attempt, chat }),
      asked: attempt === 1 ? dispatchable.asked : undefined,
      workers,
      clock,
      ...(time && { time }),
      deadlines: job.deadlines,
      firstSilenceMs,
      findSuccessor: tries.findSuccessor,
      clientGone,
      isStream,
    });
    const judged = await excuseChanged(services, reservation, result);
    const isOpen = canBeCaused(judged, dispatchable) || isDoubtful(judged, dispatchable);
    if (recordFailure(logger, { job, reservation, attempt, result: judged, isOpen })) {
      tries.noteBlamed(reservation);
    }
    return judged;
  } finally {
    reservation.release();
  }
}

const isEmpty = (result: AttemptResult): boolean =>
  result.kind === 'failed' && result.reason === 'empty_output';

/** Whether there was text or reasoning without an end: what was read of it must not pass for an answer. */
const breaksOff = (result: AttemptResult): boolean =>
  result.kind === 'failed' && result.hasBegun && !isEmpty(result);

/** Whether the request itself can be why it came to nothing: one more worker is asked at most. */
function canBeCaused(result: AttemptResult, { chat, job }: Dispatchable): boolean {
  return result.kind === 'refused' || (isEmpty(result) && canEmpty(chat, job.tokenLimit));
}

/** Whether it counts against the worker only if another answers the same request. */
function isDoubtful(result: AttemptResult, dispatchable: Dispatchable): boolean {
  const isSilent = result.kind === 'failed' && result.cause === 'silent' && !result.hasBegun;
  return (
    result.kind === 'refused' ||
    (isEmpty(result) && !canBeCaused(result, dispatchable)) ||
    (isSilent && canSilence(dispatchable.chat))
  );
}

/**
 * The pool is up to a second behind the ledger. A worker that left, moved or changed its key in that time
 * cannot answer, and has not failed.
 */
async function excuseChanged(
  { directory, time }: DispatchServices,
  reservation: Reservation,
  result: AttemptResult,
): Promise<AttemptResult> {
  if (result.kind !== 'failed' || result.reason !== 'worker_error') return result;
  if (result.hasBegun || result.busy) return result;
  await refreshPool(directory, time);
  if (!reservation.hasChanged()) return result;
  const cause = 'its terms on the ledger changed';
  return { ...result, cause, busy: { retryAfterMs: undefined }, isRefused: false };
}

/**
 * A proof on the ledger that was not delivered here is its prover's fault, whichever worker failed last:
 * no other worker may suffer for it.
 */
async function blameProver(
  { escrow, time }: DispatchServices,
  job: LockedJob,
  tries: Tries,
): Promise<void> {
  const proven = await within(PROVER_WAIT_MS, escrow.undeliveredProof(job), time);
  const prover = proven && tries.find(proven.workerAddress);
  if (prover) tries.blame(prover, 'A worker proved what it did not deliver');
}

type Tries = ReturnType<typeof createTries>;

/** The workers asked for one job, those that a failure counts against, and the next one. */
function createTries(
  { directory, clock, logger }: DispatchServices,
  { job, chat }: Pick<Dispatchable, 'job' | 'chat'>,
) {
  const { model, deadlines } = job;
  const toolsOf = chat.tools === undefined ? undefined : model.id;
  // Each worker is tried once, so that their number is the number of the attempt.
  const tried = new Map<string, Reservation>();
  const blamed = new Set<Reservation>();
  /** The next worker, until its attempt begins. */
  let successor: Reservation | undefined;

  // A worker that is asked later than this could not prove anything in time.
  const mayTryAnother = (): boolean =>
    tried.size < ATTEMPTS_MAX && clock.nowSeconds() < deadlines.stopAt;

  const reserve = (waitMs: number, signal?: AbortSignal): Promise<Reservation | undefined> => {
    const except = new Set(tried.keys());
    return directory.reserve({ modelAddress: model.address, except, toolsOf, waitMs, signal });
  };

  const hasOthers = (): boolean =>
    directory.active(model.address, toolsOf).some(({ address }) => !tried.has(address));

  /** Counts a failure against a worker, once for a job. */
  function blame(reservation: Reservation, msg: string): void {
    if (blamed.has(reservation)) return;
    reservation.failed();
    blamed.add(reservation);
    logger.warn({ msg, job_id: job.id, worker: reservation.worker.address });
  }

  return {
    /** @returns the attempt's number */
    add(reservation: Reservation): number {
      successor = undefined;
      tried.set(reservation.worker.address, reservation);
      return tried.size;
    },
    async findSuccessor(silence: AbortSignal): Promise<void> {
      if (successor || !mayTryAnother()) return;
      const found = await reserve(FAILOVER_WAIT_MS, silence);
      if (silence.aborted) found?.release();
      else successor = found;
    },
    async findNext(): Promise<Reservation | undefined> {
      if (!successor && mayTryAnother()) {
        successor = await reserve(hasOthers() ? FAILOVER_WAIT_MS : 0);
      }
      return successor;
    },
    areOthersLeft: (): boolean => tried.size < ATTEMPTS_MAX && hasOthers(),
    blame,
    /** Its failure was counted already. */
    noteBlamed: (reservation: Reservation): void => void blamed.add(reservation),
    /** The worker of this address, if it was asked. */
    find: (workerAddress: string): Reservation | undefined => tried.get(workerAddress),
    release: (): void => successor?.release(),
  };
}

/** How long the database may take to show the workers as they are now. */
const REFRESH_WAIT_MS = 1_000;

/** Resolves once the pool is as the mirror has it, or the database has taken too long. */
export async function refreshPool(
  directory: Pick<WorkerDirectory, 'refresh'>,
  time: Time | undefined,
): Promise<void> {
  await within(
    REFRESH_WAIT_MS,
    directory.refresh().catch(() => undefined),
    time,
  );
}

/** When the worker may have capacity again; undefined where it failed at the job itself. */
function waitAfter({ busy, isRefused }: Extract<UnprovenResult, { kind: 'failed' }>) {
  if (busy) return busy.retryAfterMs ?? RETRY_AFTER_MS;
  return isRefused ? PROBE_INTERVAL_MS : undefined;
}

/**
 * Whether a job came to nothing for want of capacity alone. Then its client's Retry-After is the
 * soonest of the workers that were asked.
 */
function createCapacityNotes() {
  let isOnlyBusy = true;
  let retryAfterMs: number | undefined;
  return {
    note(result: AttemptResult): void {
      const waitMs = result.kind === 'failed' ? waitAfter(result) : undefined;
      if (waitMs === undefined) isOnlyBusy = false;
      else retryAfterMs = Math.min(waitMs, retryAfterMs ?? Infinity);
    },
    judge(result: UnprovenResult): UnprovenResult {
      if (result.kind !== 'failed') return result;
      return { ...result, busy: isOnlyBusy ? { retryAfterMs } : undefined };
    },
  };
}

/** @returns whether it counts against the worker */
function recordFailure(
  logger: Logger,
  options: Pick<Dispatchable, 'job' | 'reservation'> & {
    attempt: number;
    result: AttemptResult;
    /** Whether other workers will show it. */
    isOpen: boolean;
  },
): boolean {
  const { job, reservation, attempt, result, isOpen } = options;
  const about = { job_id: job.id, worker: reservation.worker.address, attempt };
  if (result.kind === 'overdue') {
    if (!result.isExcused) reservation.failed();
    logger.warn({ msg: 'A worker proved nothing in time', ...about });
    return !result.isExcused;
  }
  if (result.kind === 'failed') {
    const { reason, cause } = result;
    const counts = !result.busy && !isOpen;
    if (result.isRefused) reservation.refusedConnection();
    else if (result.busy) reservation.foundBusy(result.busy.retryAfterMs);
    else if (counts) reservation.failed();
    logger.warn({ msg: 'A worker failed at a job', ...about, reason, cause });
    return counts;
  }
  return false;
}
