/** Lets so many pieces of work run at a time. */
export interface Turns {
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
