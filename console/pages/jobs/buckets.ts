import type { JobCountAnswer } from '../../../api/contracts/index.ts';

/** What became of jobs, from the ground of a bar up. */
export const STATES = ['settled', 'failed', 'refunded', 'unfinished'] as const;

type Counts = Readonly<Record<(typeof STATES)[number], number>>;

export interface Bucket extends Counts {
  readonly start: string;
  readonly end: string;
}

export function totalOf(counts: Counts): number {
  return STATES.reduce((sum, state) => sum + counts[state], 0);
}

/** Every bucket of the answer's time, also those without a job. */
export function bucketsOf({ since, until, slot_seconds, data }: JobCountAnswer): Bucket[] {
  const bucketMs = slot_seconds * 1_000;
  const known = new Map(data.map((row) => [Date.parse(row.start), row]));
  const count = Math.round((Date.parse(until) - Date.parse(since)) / bucketMs);
  const iso = (ms: number) => new Date(ms).toISOString();
  return Array.from({ length: count }, (_, index) => {
    const startMs = Date.parse(since) + index * bucketMs;
    const none = { settled: 0, failed: 0, refunded: 0, unfinished: 0 };
    return { ...none, ...known.get(startMs), start: iso(startMs), end: iso(startMs + bucketMs) };
  });
}
