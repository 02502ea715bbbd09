/**
 * Waits `ms` milliseconds, or less when `signal` aborts: then it returns at once, without an error,
 * because every caller looks at its own state again afterwards.
 */
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}

/** What `work` comes to, or undefined once `ms` milliseconds have passed; the work itself goes on. */
export async function within<Result>(
  ms: number,
  work: Promise<Result>,
): Promise<Result | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
