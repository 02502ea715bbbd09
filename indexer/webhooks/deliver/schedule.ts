/**
 * How long each attempt waits for, counted from the end of the one before it. The contract's own
 * numbers: no setting changes them.
 */
const ATTEMPT_DELAYS_MS = [0, 30_000, 300_000, 1_800_000, 7_200_000] as const;

/** An event that failed so often is given up, and its webhook with it. */
export const ATTEMPTS_MAX = ATTEMPT_DELAYS_MS.length;

/**
 * @param failed the attempt that has just failed, from 1
 * @returns milliseconds until the next one, or undefined when there is none
 */
export function delayAfter(failed: number): number | undefined {
  return ATTEMPT_DELAYS_MS[failed];
}
