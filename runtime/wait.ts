import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits `ms` milliseconds, or less when `signal` aborts: then it returns at once, without an error,
 * because every caller looks at its own state again afterwards.
 */
export async function delay(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}

/** What `work` comes to, or undefined once `ms` milliseconds have passed; the work itself goes on. */
export async function within<Result>(
  ms: number,
  work: Promise<Result>,
): Promise<Result | undefined> {
  const timer = new AbortController();
  const late = delay(ms, timer.signal).then(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
}
