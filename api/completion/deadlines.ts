/**
 * The deadlines of a job, all in the ledger's seconds. T is the lock's time plus the job's timeout;
 * after T anybody may refund it, so nothing may still be under way to settle it.
 */

/** An answer still running this long before T is stopped, so that its proof is in time. */
export const STOP_BEFORE_END_SECONDS = 15n;

/** From here on nothing is signed for settlement: it could land after a refund became possible. */
export const PROOF_BEFORE_END_SECONDS = 5n;

/** A worker silent for this long is dropped when another can take its place. */
export const SILENCE_SECONDS = 30n;

/** How many workers are tried for one job. */
export const ATTEMPTS_MAX = 3;

/**
 * When a job ends, known to the second: the transaction's own Clock is not read back, so its lock
 * time lies between the ledger time seen before sending and the one seen after confirmation.
 */
export interface JobDeadlines {
  /** Stop a running answer: counted from the earliest possible lock. */
  stopAt: bigint;
  /** The last moment to sign for settlement: counted from the earliest possible lock. */
  proofDueAt: bigint;
  /** A refund is certainly allowed: counted from the latest possible lock. */
  refundableAt: bigint;
}

export function jobDeadlines(options: {
  lockedAtEarliest: bigint;
  lockedAtLatest: bigint;
  timeoutSeconds: bigint;
}): JobDeadlines {
  const { lockedAtEarliest, lockedAtLatest, timeoutSeconds } = options;
  const endEarliest = lockedAtEarliest + timeoutSeconds;
  return {
    stopAt: endEarliest - STOP_BEFORE_END_SECONDS,
    proofDueAt: endEarliest - PROOF_BEFORE_END_SECONDS,
    refundableAt: lockedAtLatest + timeoutSeconds + 1n,
  };
}
