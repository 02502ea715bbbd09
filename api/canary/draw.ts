import { createRandom } from '../../runtime/seededRandom.ts';

/** Draws that follow from a seed alone. */
export interface Draw {
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number;
  oneOf<Item>(items: readonly [Item, ...Item[]]): Item;
  /** `count` different items, in an order of their own. */
  several<Item>(items: readonly Item[], count: number): Item[];
}

export function createDraw(seed: number): Draw {
  const { below } = createRandom(String(seed));
  return {
    between: (least, most) => least + below(most - least + 1),
    oneOf: (items) => items[below(items.length)] ?? items[0],
    several(items, count) {
      const left = [...items];
      return Array.from({ length: count }, () => left.splice(below(left.length), 1)).flat();
    },
  };
}
