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
