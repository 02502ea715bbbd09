import { delay, type Time } from '../common/wait.ts';

/** Time that goes on by itself, and that a test moves on or holds. */
export interface MovableTime extends Time {
  /** Moves on by `ms` milliseconds. What is due by then is called at once, in its order. */
  advance(ms: number): void;
  /** How many wait for it: a step before one does is lost on it. */
  waiters(): number;
  /** Moves on in steps of `stepMs` until `work` is over. @returns what it came to */
  advanceUntil<Result>(work: Promise<Result>, stepMs?: number): Promise<Result>;
  /** From now on only `advance` moves it, until `release`. */
  hold(): void;
  release(): void;
}

interface Waiter {
  dueMs: number;
  call: () => void;
  timer?: NodeJS.Timeout;
}

/** Not so far ahead of a ledger that keeps mainnet's time (`npm run test:mainnet-profile`). */
const STEP_MS = process.env.LEDGER_PROFILE === 'mainnet' ? 100 : 500;
/** In which processes and sockets get to what the last step has let happen. */
const STEP_PAUSE_MS = 20;

export function createMovableTime(): MovableTime {
  let aheadMs = 0;
  let heldAtMs: number | undefined;
  const waiting = new Set<Waiter>();
  const nowMs = () => heldAtMs ?? performance.now() + aheadMs;

  /** Calls what is due, and sets the timers of the rest. */
  function settle(): void {
    for (const waiter of [...waiting].sort((one, other) => one.dueMs - other.dueMs)) {
      // One that was called before it may have cancelled it.
      if (!waiting.has(waiter)) continue;
      clearTimeout(waiter.timer);
      const leftMs = waiter.dueMs - nowMs();
      if (leftMs <= 0) waiter.call();
      else if (heldAtMs === undefined) waiter.timer = setTimeout(waiter.call, leftMs);
    }
  }

  function advance(ms: number): void {
    if (heldAtMs === undefined) aheadMs += ms;
    else heldAtMs += ms;
    settle();
  }

  return {
    nowMs,
    after(ms, then) {
      const call = () => {
        waiting.delete(waiter);
        then();
      };
      const waiter: Waiter = {
        dueMs: nowMs() + ms,
        call,
      };
      if (heldAtMs === undefined) waiter.timer = setTimeout(call, ms);
      waiting.add(waiter);
      return () => {
        clearTimeout(waiter.timer);
        waiting.delete(waiter);
      };
    },
    advance,
    waiters: () => waiting.size,
    async advanceUntil(work, stepMs = STEP_MS) {
      let isOver = false;
      const end = () => {
        isOver = true;
      };
      work.then(end, end);
      for (await delay(0); !isOver; await delay(STEP_PAUSE_MS)) advance(stepMs);
      return work;
    },
    hold() {
      heldAtMs = nowMs();
      for (const { timer } of waiting) clearTimeout(timer);
    },
    release() {
      if (heldAtMs === undefined) return;
      aheadMs = heldAtMs - performance.now();
      heldAtMs = undefined;
      settle();
    },
  };
}
