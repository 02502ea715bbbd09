import { createHash } from 'node:crypto';
import { createRandom, type Random } from '../../../testing/random.ts';

/** Randomness of one part of the simulation, so that parts that race do not draw from each other. */
export interface Chance {
  below(bound: number): number;
  /** Happens so many times in a thousand. */
  happens(perMille: number): boolean;
  pick<Item>(items: readonly Item[]): Item | undefined;
  shuffle<Item>(items: readonly Item[]): Item[];
}

/** @param part of the simulation: another name is another sequence */
export function createChance(seed: number, part: string): Chance {
  const digest = createHash('sha256').update(`${seed}:${part}`).digest();
  const { below }: Random = createRandom(digest.readUInt32BE());
  return {
    below,
    happens: (perMille) => below(1_000) < perMille,
    pick: (items) => items[below(items.length)],
    shuffle(items) {
      const left = [...items];
      return items.map(() => left.splice(below(left.length), 1)[0] as never);
    },
  };
}
