import type { KnownWorker } from './knownWorker.ts';

/** A reserved place at a worker. Released once, when the attempt is over. */
export interface Slot {
  worker: KnownWorker;
  /** Tells how long the first token took; the pool's choice learns from it. */
  observeFirstToken(ms: number): void;
  /** Keeps the worker out of the choice for a while after a failure. */
  cool(): void;
  release(): void;
}

export interface Slots {
  /**
   * A slot at a worker of the model, waiting up to `waitMs` for one.
   * @returns undefined when none came free
   */
  reserve(request: {
    modelAddress: string;
    except: ReadonlySet<string>;
    waitMs: number;
    signal?: AbortSignal;
  }): Promise<Slot | undefined>;
  /** Lets everybody who waits look again, in the order they came. */
  offer(): void;
}

/** Weight of the newest observation: an old slow start is forgotten within a few requests. */
const SMOOTHING = 0.3;
const COOL_DOWN_MS = 10_000;

/** Reservation of places, first come first served among those who wait. */
export function createSlots(options: {
  candidates: (modelAddress: string) => KnownWorker[];
  nowMs: () => number;
}): Slots {
  const { candidates, nowMs } = options;
  const waiting = new Set<() => void>();

  function offer(): void {
    for (const lookAgain of [...waiting]) lookAgain();
  }

  function take(modelAddress: string, except: ReadonlySet<string>): Slot | undefined {
    const free = candidates(modelAddress).filter(
      (worker) => worker.inFlight < worker.slots && !except.has(worker.address),
    );
    // A cooling worker is better than none.
    const warm = free.filter((worker) => worker.coolUntilMs <= nowMs());
    const worker = chooseOfTwo(warm.length > 0 ? warm : free);
    if (!worker) return undefined;
    worker.inFlight += 1;
    let isHeld = true;
    return {
      worker,
      observeFirstToken(ms) {
        worker.firstTokenMs =
          worker.firstTokenMs === 0
            ? ms
            : worker.firstTokenMs + SMOOTHING * (ms - worker.firstTokenMs);
      },
      cool() {
        worker.coolUntilMs = nowMs() + COOL_DOWN_MS;
      },
      release() {
        if (!isHeld) return;
        isHeld = false;
        worker.inFlight -= 1;
        offer();
      },
    };
  }

  return {
    offer,
    reserve({ modelAddress, except, waitMs, signal }) {
      const slot = take(modelAddress, except);
      if (slot || waitMs === 0) return Promise.resolve(slot);
      return new Promise((resolve) => {
        const finish = (result: Slot | undefined) => {
          waiting.delete(lookAgain);
          clearTimeout(timer);
          signal?.removeEventListener('abort', giveUp);
          resolve(result);
        };
        const lookAgain = () => {
          const found = take(modelAddress, except);
          if (found) finish(found);
        };
        const giveUp = () => finish(undefined);
        const timer = setTimeout(giveUp, waitMs);
        signal?.addEventListener('abort', giveUp, { once: true });
        waiting.add(lookAgain);
      });
    },
  };
}

/**
 * Two at random, the better one taken: load spreads almost as well as with full knowledge, and
 * several API processes do not all run to the same worker.
 */
function chooseOfTwo(workers: KnownWorker[]): KnownWorker | undefined {
  const first = workers[Math.floor(Math.random() * workers.length)];
  const second = workers[Math.floor(Math.random() * workers.length)];
  if (!first || !second) return undefined;
  return expectedWait(second) < expectedWait(first) ? second : first;
}

function expectedWait(worker: KnownWorker): number {
  // At least 1 ms, so that the queue counts for workers that were never observed, too.
  return Math.max(1, worker.firstTokenMs) * (worker.inFlight + 1);
}
