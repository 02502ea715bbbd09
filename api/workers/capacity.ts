import { systemTime, type Time } from '../../common/wait.ts';
import { RETRY_AFTER_SECONDS_MAX } from '../../common/workerProtocol.ts';
import type { WorkerRow } from '../sql/workers.ts';

/** A process that restarts is back in about that time. */
const COOL_DOWN_MS_MIN = 2_000;
/** What it costs to find out that a broken worker works again: one job's failover a minute. */
const COOL_DOWN_MS_MAX = 60_000;
/** For a busy worker that names no time: about the length of a short answer. */
const BUSY_MS = 1_000;
/** A worker's `Retry-After` keeps it out no longer than ours may last. */
const BUSY_MS_MAX = RETRY_AFTER_SECONDS_MAX * 1_000;

export type Cooldown = ReturnType<typeof newCooldown>;

/** How far a worker is trusted with jobs, by its last results. Times are of one clock. */
export function newCooldown() {
  return {
    /** Incidents since its last proven answer. */
    failures: 0,
    /** Incidents since this process began. */
    failuresTotal: 0,
    failedAtMs: -Infinity,
    /** Until then it is asked only where no sound worker is left. */
    coolUntilMs: -Infinity,
    /** Until then it has no capacity, as it said. */
    busyUntilMs: -Infinity,
  };
}

/**
 * The worker failed at a job: it cools down, twice as long as after the failure before.
 *
 * @param begunAtMs when the job was given to it. Jobs that ran together when it broke are one incident
 */
export function recordFailure(cooldown: Cooldown, begunAtMs: number, nowMs: number): void {
  if (begunAtMs < cooldown.failedAtMs) return;
  cooldown.failures += 1;
  cooldown.failuresTotal += 1;
  cooldown.failedAtMs = nowMs;
  const coolDownMs = COOL_DOWN_MS_MIN * 2 ** (cooldown.failures - 1);
  cooldown.coolUntilMs = nowMs + Math.min(coolDownMs, COOL_DOWN_MS_MAX);
}

/** The worker proved an answer: what was wrong is over. */
function recordSuccess(cooldown: Cooldown): void {
  cooldown.failures = 0;
  cooldown.coolUntilMs = -Infinity;
}

/** The worker had no capacity. It works, so this is no failure. */
export function recordBusy(
  cooldown: Cooldown,
  retryAfterMs: number | undefined,
  nowMs: number,
): void {
  cooldown.busyUntilMs = nowMs + Math.min(retryAfterMs ?? BUSY_MS, BUSY_MS_MAX);
}

/** How quick a worker is, before it has answered a job. */
interface StartProbe {
  /** How long it took to answer our first probe. */
  answerMs: number;
  /** The first token of its own trials, by model id, where it says. */
  firstTokenMs: Readonly<Record<string, number>>;
}

/** Nothing listens at its endpoint: it is out until a probe is answered. */
export function recordUnreachable(worker: KnownWorker): void {
  worker.isSilent = true;
  worker.answeredAtMs = -Infinity;
}

/** Weight of the newest observation: an old slow start is forgotten within a few requests. */
const SMOOTHING = 0.3;

/** Carries a smoothed value on; the first observation is taken as it is. */
function smoothed(previous: number | undefined, observed: number): number {
  return previous ? previous + SMOOTHING * (observed - previous) : observed;
}

export type KnownWorker = ReturnType<typeof newWorker>;

/** What one API process knows of a worker. Times are milliseconds of the process's own clock. */
export function newWorker(row: WorkerRow) {
  return {
    ...row,
    ...unknownHealth(),
    /** Whether the ledger lets it take jobs. One that left keeps its running jobs and gets no other. */
    isEligible: true,
    /** Jobs that this process has given it, or is about to. */
    inFlight: 0,
    /** Smoothed time to first token by model address. */
    firstTokens: new Map<string, { ms: number; observedAtMs: number }>(),
    /** Smoothed time that a proven job held capacity; 0 until one did. */
    jobMs: 0,
    cooldown: newCooldown(),
  };
}

/** What is known of an endpoint that never answered: it is offered no work before it does. */
export function unknownHealth() {
  return {
    capacity: 0,
    /** Jobs of other processes that it ran when it was last probed. */
    inFlightElsewhere: 0,
    probedAtMs: -Infinity,
    answeredAtMs: -Infinity,
    /** Undefined before its first answer. */
    startProbe: undefined as StartProbe | undefined,
    /** The ids of models of which it says that a trial kept `response_format`. */
    formatKept: [] as readonly string[],
    /** The ids of models of which it says that a trial called its tool. */
    toolsCalled: [] as readonly string[],
    /** Whether its last probe came to nothing. */
    isSilent: false,
    /** Why it takes no jobs, where it may be quoted. */
    unreadyReason: undefined as string | undefined,
  };
}

/**
 * An older time to first token no longer counts, so that a worker that was slow once is tried again
 * about once a minute.
 */
const FIRST_TOKEN_AGE_MAX_MS = 60_000;

/** Whether its own trial called a tool with the model, and the last canary's did, too. */
export function callsTools(
  { toolsCalled, toolless }: KnownWorker,
  { address, id }: { address: string; id: string },
): boolean {
  return toolsCalled.includes(id) && !toolless.includes(address);
}

interface Choice {
  modelAddress: string;
  nowMs: number;
  /** In [0, 1). */
  random: () => number;
}

/**
 * The worker to ask next, or undefined when it is better to wait for one.
 *
 * A worker without recent failures goes first, even if it takes waiting for. One that failed
 * is tried again, with one job, when it has cooled down. Those that failed the model's last canary
 * follow in the same way. Only when no sound worker is left are the others asked as they are: a pool
 * in which all have failed still serves.
 *
 * @param workers that answer, host the model, and were not asked for this job
 */
export function chooseWorker(
  workers: readonly KnownWorker[],
  choice: Choice,
): KnownWorker | undefined {
  const { nowMs } = choice;
  // A worker that says it is busy, or takes no jobs at all, is not worth waiting for either.
  const open = workers.filter(
    ({ capacity, cooldown }) => capacity > 0 && cooldown.busyUntilMs <= nowMs,
  );
  const free = open.filter((worker) => worker.inFlight < worker.capacity);
  const ready = free.filter((worker) => isSound(worker) || isDueForTrial(worker, nowMs));
  for (const hasFailed of [false, true]) {
    const isOfThese = ({ failed_canaries }: KnownWorker) =>
      failed_canaries.includes(choice.modelAddress) === hasFailed;
    const these = ready.filter(isOfThese);
    if (these.length > 0) return betterOfTwo(these, choice);
    if (open.filter(isOfThese).some(isSound)) return undefined;
  }
  return free.toSorted(soonestBack)[0];
}

/** Whether nothing speaks against giving it jobs. */
function isSound({ cooldown, isSilent }: KnownWorker): boolean {
  return cooldown.failures === 0 && !isSilent;
}

function isDueForTrial({ cooldown, isSilent, inFlight }: KnownWorker, nowMs: number): boolean {
  return !isSilent && cooldown.coolUntilMs <= nowMs && inFlight === 0;
}

/** The silent last: a job that they do not answer is held up for half a minute. */
function soonestBack(one: KnownWorker, other: KnownWorker): number {
  if (one.isSilent !== other.isSilent) return one.isSilent ? 1 : -1;
  return one.cooldown.coolUntilMs < other.cooldown.coolUntilMs ? -1 : 1;
}

/**
 * Takes the better of two random workers. Load spreads almost as well as with full knowledge, and
 * several API processes do not all choose the same worker.
 */
function betterOfTwo(workers: readonly KnownWorker[], choice: Choice): KnownWorker | undefined {
  const seen = workers.map((worker) => recentFirstTokenMs(worker, choice) ?? Infinity);
  const bestMs = Math.min(...seen);
  // Workers without an observation count as the best, so that a new one is tried soon.
  const assumedMs = Number.isFinite(bestMs) ? bestMs : 1;
  const expectedWait = (worker: KnownWorker): number =>
    // At least 1 ms, so that jobs in flight count at any speed.
    Math.max(1, recentFirstTokenMs(worker, choice) ?? assumedMs) *
    (worker.inFlight + worker.inFlightElsewhere + 1);

  const [one, other] = drawTwo(workers, choice.random);
  if (!one || !other) return one;
  return expectedWait(other) < expectedWait(one) ? other : one;
}

function drawTwo<Item>(items: readonly Item[], random: () => number): Item[] {
  const first = Math.floor(random() * items.length);
  const rest = items.toSpliced(first, 1);
  return [items[first], rest[Math.floor(random() * rest.length)]].filter(
    (item) => item !== undefined,
  );
}

function recentFirstTokenMs(
  { firstTokens }: KnownWorker,
  { modelAddress, nowMs }: Choice,
): number | undefined {
  const last = firstTokens.get(modelAddress);
  const isRecent = last && nowMs - last.observedAtMs <= FIRST_TOKEN_AGE_MAX_MS;
  return isRecent ? last.ms : undefined;
}

/** Reserved capacity at a worker. Released once, when the attempt is over. */
export interface Reservation {
  worker: KnownWorker;
  /** Records how long the first token took, for the pool's next choices. */
  observeFirstToken(ms: number): void;
  succeeded(): void;
  failed(): void;
  /** Nothing listens at the worker's endpoint: it is offered no work before it answers a probe. */
  refusedConnection(): void;
  /** @param retryAfterMs when the worker expects to have capacity again, if it said so */
  foundBusy(retryAfterMs: number | undefined): void;
  /**
   * Whether the worker's terms on the ledger have changed since the reservation: it left, stopped
   * hosting the model, or has another endpoint or proof key.
   */
  hasChanged(): boolean;
  release(): void;
}

/** For which model, and which workers were asked for the job before. */
interface ReservationRequest {
  modelAddress: string;
  except: ReadonlySet<string>;
  /** The model's id, where only a worker will do that calls tools. */
  toolsOf?: string | undefined;
}

export type Capacity = ReturnType<typeof createCapacity>;

/** Reserves capacity, first come, first served among waiting requests. */
export function createCapacity(options: {
  candidates: (modelAddress: string, toolsOf: string | undefined) => KnownWorker[];
  time?: Time;
  random: () => number;
  /** Called for each attempt that fails by the worker's own fault. */
  onFailure?: (worker: string, modelAddress: string) => void;
}) {
  const { candidates, time = systemTime, random, onFailure } = options;
  const { nowMs } = time;
  const waiting = new Set<{ modelAddress: string; lookAgain: () => void }>();

  function offer(): void {
    for (const { lookAgain } of [...waiting]) lookAgain();
  }

  function take(wish: ReservationRequest): Reservation | undefined {
    const { modelAddress, except, toolsOf } = wish;
    const others = candidates(modelAddress, toolsOf).filter(({ address }) => !except.has(address));
    const worker = chooseWorker(others, { modelAddress, nowMs: nowMs(), random });
    if (!worker) return undefined;
    const onFailed = () => onFailure?.(worker.address, modelAddress);
    return reserveAt(worker, { modelAddress, nowMs, onFailed, onReleased: offer });
  }

  return {
    /** Lets all waiting requests try again, in the order they came. */
    offer,
    /** How many wait for capacity at the model's workers. */
    waiting: (modelAddress: string): number =>
      [...waiting].filter((waiter) => waiter.modelAddress === modelAddress).length,
    /**
     * Reserves capacity at a worker of the model, waiting up to `waitMs` for it.
     *
     * @returns undefined when none came free, or when `signal` aborted
     */
    reserve({
      waitMs,
      signal,
      ...wish
    }: ReservationRequest & { waitMs: number; signal?: AbortSignal | undefined }): Promise<
      Reservation | undefined
    > {
      if (signal?.aborted) return Promise.resolve(undefined);
      const reservation = take(wish);
      if (reservation || waitMs === 0) return Promise.resolve(reservation);
      return new Promise((resolve) => {
        const finish = (result: Reservation | undefined) => {
          waiting.delete(waiter);
          cancel();
          signal?.removeEventListener('abort', giveUp);
          resolve(result);
        };
        const waiter = {
          modelAddress: wish.modelAddress,
          lookAgain() {
            const found = take(wish);
            if (found) finish(found);
          },
        };
        const giveUp = () => finish(undefined);
        const cancel = time.after(waitMs, giveUp);
        signal?.addEventListener('abort', giveUp, { once: true });
        waiting.add(waiter);
      });
    },
  };
}

/** Holds one place of the worker's capacity until it is released. */
function reserveAt(
  worker: KnownWorker,
  options: {
    modelAddress: string;
    nowMs: () => number;
    onFailed: () => void;
    onReleased: () => void;
  },
): Reservation {
  const { modelAddress, nowMs, onFailed, onReleased } = options;
  const { endpoint, proof_key } = worker;
  const takenAtMs = nowMs();
  let isHeld = true;
  worker.inFlight += 1;
  const failed = (): void => {
    recordFailure(worker.cooldown, takenAtMs, nowMs());
    onFailed();
  };
  return {
    worker,
    observeFirstToken(observedMs) {
      const ms = smoothed(worker.firstTokens.get(modelAddress)?.ms, observedMs);
      worker.firstTokens.set(modelAddress, { ms, observedAtMs: nowMs() });
    },
    succeeded() {
      worker.jobMs = smoothed(worker.jobMs, nowMs() - takenAtMs);
      recordSuccess(worker.cooldown);
    },
    failed,
    refusedConnection() {
      failed();
      recordUnreachable(worker);
    },
    foundBusy: (retryAfterMs) => recordBusy(worker.cooldown, retryAfterMs, nowMs()),
    hasChanged: () =>
      !worker.isEligible ||
      !worker.models.includes(modelAddress) ||
      worker.endpoint !== endpoint ||
      worker.proof_key !== proof_key,
    release() {
      if (!isHeld) return;
      isHeld = false;
      worker.inFlight -= 1;
      onReleased();
    },
  };
}
