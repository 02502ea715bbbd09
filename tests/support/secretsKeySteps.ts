/**
 * The keys that processes have while one gives way to the next: the one that seals, then the one
 * that only opens. docs/deploying.md has the order.
 */
export function secretsKeySteps<Key>(before: Key, after: Key) {
  return [[before], [before, after], [after, before], [after]] as const;
}

/** Steps that run side by side while processes go from one to the next. */
export const NEIGHBOURING_STEPS = [
  [0, 1],
  [1, 0],
  [1, 2],
  [2, 1],
  [2, 3],
  [3, 2],
] as const;
