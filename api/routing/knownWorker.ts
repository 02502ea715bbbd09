import type { WorkerRow } from '../statements/workers.ts';

/** What one API process knows of a worker. */
export interface KnownWorker extends WorkerRow {
  slots: number;
  inFlight: number;
  /** Smoothed time to first token; 0 until one was seen, so a new worker is soon tried. */
  firstTokenMs: number;
  answeredAtMs: number;
  probedAtMs: number;
  coolUntilMs: number;
}
