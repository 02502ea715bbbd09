/** Repeatable randomness: the suite's title contains the seed. */
export interface Random {
  readonly seed: number;
  /** A whole number in [0, bound). */
  below(bound: number): number;
  bytes(size: number): Uint8Array;
}

/** Mulberry32. Set `SEED` to repeat a failed run. */
export function createRandom(seed = Number(process.env.SEED ?? Date.now() % 1_000_000)): Random {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return {
    seed,
    below: (bound) => Math.floor((next() / 2 ** 32) * bound),
    bytes: (size) => Uint8Array.from({ length: size }, () => next() & 0xff),
  };
}
