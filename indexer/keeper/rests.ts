/** Remembers what to leave alone for a while. */
export interface Rests {
  start(key: string, durationMs: number): void;
  /** What rests now. */
  keys(): string[];
}

export function createRests(nowMs: () => number): Rests {
  const untilMs = new Map<string, number>();
  return {
    start: (key, durationMs) => void untilMs.set(key, nowMs() + durationMs),
    keys() {
      const now = nowMs();
      for (const [key, until] of untilMs) if (until <= now) untilMs.delete(key);
      return [...untilMs.keys()];
    },
  };
}
