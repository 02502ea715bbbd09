/** Remembers what to leave alone for a while. */
export interface Rests {
  start(key: string, durationMs: number): void;
  isResting(key: string): boolean;
}

export function createRests(): Rests {
  const untilMs = new Map<string, number>();
  return {
    start(key, durationMs) {
      const now = performance.now();
      for (const [other, until] of untilMs) if (until <= now) untilMs.delete(other);
      untilMs.set(key, now + durationMs);
    },
    isResting: (key) => (untilMs.get(key) ?? 0) > performance.now(),
  };
}
