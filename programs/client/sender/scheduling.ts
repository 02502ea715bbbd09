import type { Keypair } from '@solana/web3.js';

/** Lets so many pieces of work run at a time. */
interface Turns {
  /**
   * Runs `work` when its turn comes. Within a lane it is first come, first served; lanes alternate,
   * so that a burst of one kind of work never holds up all of another kind, but for urgent ones,
   * behind which all others wait.
   */
  take<Result>(lane: string, work: () => Promise<Result>): Promise<Result>;
  /** How long the first that waits in the lane has waited; 0 when none does. */
  waitedMs(lane: string): number;
}

/** One that waits for its turn. */
interface Waiting {
  sinceMs: number;
  begin: () => void;
}

/**
 * @param options.limit how many may run at a time
 * @param options.nowMs a monotone clock in milliseconds
 */
export function createTurns(options: {
  limit: number;
  urgentLanes?: readonly string[];
  nowMs: () => number;
}): Turns {
  const { limit, urgentLanes = [], nowMs } = options;
  /** Lanes that somebody waits in, in the order they are served. */
  const lanes = new Map<string, Waiting[]>();
  let running = 0;

  function wait(lane: string): Promise<void> {
    return new Promise((begin) => {
      const waiting = lanes.get(lane) ?? [];
      waiting.push({ sinceMs: nowMs(), begin });
      lanes.set(lane, waiting);
    });
  }

  /** The place is handed on as it is, so that nobody who comes now can overtake. */
  function handOn(): void {
    const served = [...lanes].find(([lane]) => urgentLanes.includes(lane)) ?? [...lanes][0];
    if (served === undefined) {
      running -= 1;
      return;
    }
    const [lane, waiting] = served;
    const next = waiting.shift();
    lanes.delete(lane);
    if (waiting.length > 0) lanes.set(lane, waiting);
    next?.begin();
  }

  return {
    async take(lane, work) {
      if (running >= limit) await wait(lane);
      else running += 1;
      try {
        return await work();
      } finally {
        handOn();
      }
    },
    waitedMs(lane) {
      const first = lanes.get(lane)?.[0];
      return first ? nowMs() - first.sinceMs : 0;
    },
  };
}

/** Who pays for transactions, in turn. */
interface FeePayers {
  /**
   * The next in turn that has not been tried; those that could not pay lately come last.
   * Undefined when all were tried.
   */
  next(tried: ReadonlySet<Keypair>): Keypair | undefined;
  /** It could not pay. @returns whether that is news, as it is once a minute at most */
  passOver(payer: Keypair): boolean;
}

/** Whoever runs short of lamports is usually given some within minutes. */
const PASSED_OVER_MS = 60_000;

/** @param options.nowMs a monotone clock in milliseconds */
export function createFeePayers(options: {
  keys: readonly Keypair[];
  nowMs: () => number;
}): FeePayers {
  const { keys, nowMs } = options;
  const passedOverMs = new Map<Keypair, number>();
  const warnedMs = new Map<Keypair, number>();
  let turn = 0;

  function isLongAgo(times: Map<Keypair, number>, payer: Keypair): boolean {
    return nowMs() - (times.get(payer) ?? Number.NEGATIVE_INFINITY) >= PASSED_OVER_MS;
  }

  return {
    next(tried) {
      const left = keys.filter((key) => !tried.has(key));
      const able = left.filter((key) => isLongAgo(passedOverMs, key));
      const choice = able.length > 0 ? able : left;
      return choice[turn++ % choice.length];
    },
    passOver(payer) {
      passedOverMs.set(payer, nowMs());
      const isNews = isLongAgo(warnedMs, payer);
      if (isNews) warnedMs.set(payer, nowMs());
      return isNews;
    },
  };
}
