/** What one reading of the ledger said of a job's life, in the ledger's own Unix seconds. */
export interface JobLife {
  /** The moment of the reading. */
  unixSeconds: bigint;
  /** From then on anybody may refund the job. */
  deadlineSeconds: bigint;
}

/** Remembers which attempts were taken, so that no (job, attempt) is ever proven twice. */
export interface Attempts {
  isTaken(attempt: string): boolean;
  /** @returns false when the attempt was taken before or may have been, or when the memory is full */
  take(attempt: string, life: JobLife): boolean;
}

/**
 * A lock that a fork undid may land again, later by as much as its id's time may differ from the
 * ledger's: 90 s behind it and 30 s ahead.
 */
const DEADLINE_SHIFT_SECONDS_MAX = 120n;

/** Far above what one worker can answer while a job is remembered; about 20 MB. */
const ATTEMPTS_MAX = 100_000;

/**
 * An attempt is forgotten only when a reading of the ledger was past its job's deadline, and after
 * that no job with this deadline is taken, though a later reading may come from a node behind. The
 * clock of this machine decides nothing: the ledger's time may stand still while it runs.
 *
 * A full memory refuses instead of forgetting: a second, different proof of one attempt would
 * convict this worker.
 */
export function createAttempts(): Attempts {
  const lastSeconds = new Map<string, bigint>();
  let latestSeconds = 0n;

  function forgetPast(): void {
    for (const [attempt, last] of lastSeconds) {
      if (last < latestSeconds) lastSeconds.delete(attempt);
    }
  }

  return {
    isTaken: (attempt) => lastSeconds.has(attempt),
    take(attempt, { unixSeconds, deadlineSeconds }) {
      if (unixSeconds > latestSeconds) {
        latestSeconds = unixSeconds;
        forgetPast();
      }
      const isPast = deadlineSeconds < latestSeconds;
      if (isPast || lastSeconds.has(attempt) || lastSeconds.size >= ATTEMPTS_MAX) return false;
      lastSeconds.set(attempt, deadlineSeconds + DEADLINE_SHIFT_SECONDS_MAX);
      return true;
    },
  };
}
