import { createHash } from 'node:crypto';

/** Numbers that depend on the seed alone; `below(n)` is in 0 … n - 1. */
export interface Random {
  below(bound: number): number;
}

const BYTES_PER_DRAW = 4;

/** sha256 in counter mode: the same on every machine and in every version of Node. */
export function createRandom(seed: string): Random {
  let block = 0;
  let bytes = Buffer.alloc(0);
  return {
    below(bound) {
      if (bytes.length < BYTES_PER_DRAW) {
        bytes = createHash('sha256').update(`${block}:${seed}`).digest();
        block += 1;
      }
      const draw = bytes.readUInt32LE(0);
      bytes = bytes.subarray(BYTES_PER_DRAW);
      return draw % bound;
    },
  };
}
