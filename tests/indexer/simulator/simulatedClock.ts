import { setImmediate as turn } from 'node:timers/promises';

/** Time that passes only when the simulation lets it, and counts what runs in between. */
export interface SimulatedClock {
  nowMs(): number;
  /** In the place of `common/wait.ts`. */
  delay(ms: number, signal?: AbortSignal): Promise<void>;
  /** For all that takes time of the machine: the clock stands still until it has ended. */
  during<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Resolves when nothing runs any more. */
  settle(): Promise<void>;
  /**
   * Lets time pass, tick by tick, and wakes its waiters one after the other, so that the
   * same seed is the same run.
   */
  advance(ms: number): Promise<void>;
}

/** Shorter than any interval of the indexer, so that none is passed over. */
const TICK_MS = 250;
/** An answer's consequences take a few turns of the event loop to become another question. */
const IDLE_TURNS = 4;

export function createClock(): SimulatedClock {
  let now = 0;
  let running = 0;
  let onIdle = () => {};
  const sleepers = new Set<{ dueMs: number; wake: () => void }>();

  async function settle(): Promise<void> {
    for (let idle = 0; idle < IDLE_TURNS; idle += 1) {
      await turn();
      if (running === 0) continue;
      await new Promise<void>((resolve) => {
        onIdle = resolve;
      });
      idle = 0;
    }
  }

  return {
    nowMs: () => now,
    settle,
    async delay(ms, signal) {
      if (signal?.aborted) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const sleeper = { dueMs: now + ms, wake: resolve };
      sleepers.add(sleeper);
      signal?.addEventListener('abort', resolve as () => void, { once: true });
      await promise;
      sleepers.delete(sleeper);
      signal?.removeEventListener('abort', resolve as () => void);
    },
    async during(work) {
      running += 1;
      try {
        return await work();
      } finally {
        running -= 1;
        if (running === 0) onIdle();
      }
    },
    async advance(ms) {
      await settle();
      for (const endMs = now + ms; now < endMs; ) {
        now += TICK_MS;
        for (const sleeper of [...sleepers]) {
          if (sleeper.dueMs > now) continue;
          sleeper.wake();
          await settle();
        }
      }
    },
  };
}
