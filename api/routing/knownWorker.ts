import type { WorkerRow } from '../statements/workers.ts';
import { newStanding, type Standing } from './standing.ts';

/** What one API process knows of a worker. Times are milliseconds of the process's own clock. */
export interface KnownWorker extends WorkerRow {
  /** Whether the ledger lets it take jobs. One that left keeps those under way and gets no other. */
  isEligible: boolean;
  slots: number;
  /** Jobs that this process has given it, or is about to. */
  inFlight: number;
  /** Jobs of other processes that it ran when it was last probed. */
  inFlightElsewhere: number;
  /** Smoothed time to first token by model address. */
  firstTokens: Map<string, FirstToken>;
  /** Smoothed time that a proven job held its slot; 0 until one did. */
  jobMs: number;
  standing: Standing;
  probedAtMs: number;
  answeredAtMs: number;
  /** Whether its last probe came to nothing. */
  isSilent: boolean;
}

export interface FirstToken {
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
    standing: newStanding(),
  };
}

/** What is known of an endpoint that never answered: it is offered no work before it does. */
export function unprobed() {
  const never = Number.NEGATIVE_INFINITY;
  return {
    slots: 0,
    inFlightElsewhere: 0,
    probedAtMs: never,
    answeredAtMs: never,
    isSilent: false,
  };
}
