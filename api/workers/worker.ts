import type { WorkerRow } from '../sql/workers.ts';

/** How far a worker is trusted with jobs, from what its last ones came to. Times are of one clock. */
export interface Cooldown {
  /** Incidents since its last proven answer. */
  failures: number;
  failedAtMs: number;
  /** Until then it is asked only where no sound worker is left. */
  coolUntilMs: number;
  /** Until then it has no place, by its own word. */
  busyUntilMs: number;
}

/** A process that restarts is back in about that time. */
const COOL_DOWN_MS_MIN = 2_000;
/** What it costs to find out that a broken worker works again: one job's failover a minute. */
const COOL_DOWN_MS_MAX = 60_000;
/** When a busy worker names no time: about the length of a short answer. */
const BUSY_MS = 1_000;
/** No word of a worker's keeps it out longer than our own longest answer to a client. */
const BUSY_MS_MAX = 30_000;

export function newCooldown(): Cooldown {
  const never = Number.NEGATIVE_INFINITY;
  return { failures: 0, failedAtMs: never, coolUntilMs: never, busyUntilMs: never };
}

/**
 * The worker failed at a job: it cools down, twice as long as after the failure before.
 *
 * @param begunAtMs when the job was given to it; jobs that were under way together when a worker
 *   broke are one incident
 */
export function noteFailure(cooldown: Cooldown, begunAtMs: number, nowMs: number): void {
  if (begunAtMs < cooldown.failedAtMs) return;
  cooldown.failures += 1;
  cooldown.failedAtMs = nowMs;
  const coolDownMs = COOL_DOWN_MS_MIN * 2 ** (cooldown.failures - 1);
  cooldown.coolUntilMs = nowMs + Math.min(coolDownMs, COOL_DOWN_MS_MAX);
}

/** The worker proved an answer: whatever was wrong is over. */
export function noteSuccess(cooldown: Cooldown): void {
  cooldown.failures = 0;
  cooldown.coolUntilMs = Number.NEGATIVE_INFINITY;
}

/** The worker had no place. It works, so this is no failure. */
export function noteBusy(
  cooldown: Cooldown,
  retryAfterMs: number | undefined,
  nowMs: number,
): void {
  cooldown.busyUntilMs = nowMs + Math.min(retryAfterMs ?? BUSY_MS, BUSY_MS_MAX);
}

/** What one API process knows of a worker. Times are milliseconds of the process's own clock. */
export interface KnownWorker extends WorkerRow {
  /** Whether the ledger lets it take jobs. One that left keeps those under way and gets no other. */
  isEligible: boolean;
  capacity: number;
  /** Jobs that this process has given it, or is about to. */
  inFlight: number;
  /** Jobs of other processes that it ran when it was last probed. */
  inFlightElsewhere: number;
  /** Smoothed time to first token by model address. */
  firstTokens: Map<string, FirstToken>;
  /** Smoothed time that a proven job held capacity; 0 until one did. */
  jobMs: number;
  cooldown: Cooldown;
  probedAtMs: number;
  answeredAtMs: number;
  /** Whether its last probe came to nothing. */
  isSilent: boolean;
}

interface FirstToken {
  ms: number;
  observedAtMs: number;
}

/** Weight of the newest observation: an old slow start is forgotten within a few requests. */
const SMOOTHING = 0.3;

/** Carries a smoothed value on; the first observation is taken as it is. */
export function smoothed(previous: number | undefined, observed: number): number {
  return previous ? previous + SMOOTHING * (observed - previous) : observed;
}

export function newcomer(row: WorkerRow): KnownWorker {
  return {
    ...row,
    ...unprobed(),
    isEligible: true,
    inFlight: 0,
    firstTokens: new Map(),
    jobMs: 0,
    cooldown: newCooldown(),
  };
}

/** What is known of an endpoint that never answered: it is offered no work before it does. */
export function unprobed() {
  const never = Number.NEGATIVE_INFINITY;
  return {
    capacity: 0,
    inFlightElsewhere: 0,
    probedAtMs: never,
    answeredAtMs: never,
    isSilent: false,
  };
}
