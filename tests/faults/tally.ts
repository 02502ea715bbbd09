import type { Random } from '../../testing/random.ts';

/** How many faults of each kind have struck. */
export interface Tally {
  note(kind: string): void;
  readonly total: number;
  /** What clients got of it, which is no fault. */
  noteOutcome(outcome: string): void;
  /** One line per kind, the most frequent first. */
  report(): string;
}

export function createTally(): Tally {
  const counts = new Map<string, number>();
  const outcomes = new Map<string, number>();
  const add = (to: Map<string, number>, word: string) => void to.set(word, (to.get(word) ?? 0) + 1);
  const lines = (of: ReadonlyMap<string, number>): string[] =>
    [...of]
      .sort(([, one], [, other]) => other - one)
      .map(([word, count]) => `${String(count).padStart(6)}  ${word}`);
  return {
    note: (kind) => add(counts, kind),
    noteOutcome: (outcome) => add(outcomes, outcome),
    get total() {
      return [...counts.values()].reduce((sum, count) => sum + count, 0);
    },
    report: () => [...lines(counts), 'clients received', ...lines(outcomes)].join('\n'),
  };
}

/** Draws a word as often as its weight says. */
export function drawWeighted<Word extends string>(
  random: Random,
  weights: Readonly<Record<Word, number>>,
): Word {
  const entries = Object.entries(weights) as [Word, number][];
  let at = random.below(entries.reduce((sum, [, weight]) => sum + weight, 0));
  for (const [word, weight] of entries) {
    at -= weight;
    if (at < 0) return word;
  }
  throw new Error('no weight is positive');
}
