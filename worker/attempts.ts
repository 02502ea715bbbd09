/** Remembers which attempts were taken, so that no (job, attempt) is ever proven twice. */
export interface Attempts {
  isTaken(attempt: string): boolean;
  /** @returns false when the attempt was taken before, or when the memory is full */
  take(attempt: string): boolean;
}

/**
 * A job dies 120 s after its lock and a request 30 s after its time stamp; past both, the ledger
 * and the clock refuse a repetition, and it need not be remembered.
 */
const MEMORY_MS = 180_000;

/** Far above what one worker can answer in `MEMORY_MS`; about 15 MB. */
const ATTEMPTS_MAX = 100_000;

/**
 * A full memory refuses instead of forgetting: a second, different proof of one attempt would
 * convict this worker.
 *
 * @param now Unix time in milliseconds
 */
export function createAttempts(now: () => number): Attempts {
  // All entries live equally long, so the order of insertion is the order of expiry.
  const takenAtMs = new Map<string, number>();

  function forgetOld(): void {
    for (const [attempt, at] of takenAtMs) {
      if (now() - at < MEMORY_MS) return;
      takenAtMs.delete(attempt);
    }
  }

  return {
    isTaken: (attempt) => takenAtMs.has(attempt),
    take(attempt) {
      forgetOld();
      if (takenAtMs.has(attempt) || takenAtMs.size >= ATTEMPTS_MAX) return false;
      takenAtMs.set(attempt, now());
      return true;
    },
  };
}
