/** Attempts at one job that run side by side: the first that has text is heard, the others stop. */
export interface Race {
  enter(): Runner;
  /** The one that is heard, if one is yet. */
  heard(): Runner | undefined;
  /** Resolves when one is. */
  decided: Promise<void>;
}

export interface Runner {
  /** Whether this attempt is the one that is heard; the first that asks is. */
  claim(): boolean;
  /** Aborts when another one is. */
  outrun: AbortSignal;
}

export function createRace(): Race {
  const losing = new Map<Runner, AbortController>();
  const decided = Promise.withResolvers<void>();
  let heard: Runner | undefined;

  function decide(winner: Runner): void {
    heard = winner;
    decided.resolve();
    for (const [runner, loss] of losing) if (runner !== winner) loss.abort('outrun');
  }

  return {
    enter() {
      const loss = new AbortController();
      const runner: Runner = {
        outrun: loss.signal,
        claim() {
          if (!heard) decide(runner);
          return heard === runner;
        },
      };
      losing.set(runner, loss);
      if (heard) loss.abort('outrun');
      return runner;
    },
    heard: () => heard,
    decided: decided.promise,
  };
}
