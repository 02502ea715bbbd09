import { isDeepStrictEqual } from 'node:util';

/** More of them show nothing new. */
const SHOWN_MAX = 10;

/** What is missing, too much, or otherwise than it should be; empty when nothing is. */
export function describeDifferences(
  found: ReadonlyMap<string, unknown>,
  expected: ReadonlyMap<string, unknown>,
): string[] {
  const wrong = [...expected]
    .filter(([key, value]) => !isDeepStrictEqual(found.get(key), value))
    .map(([key, value]) =>
      found.has(key)
        ? `${key} is ${show(found.get(key))}, not ${show(value)}`
        : `${key} is missing: ${show(value)}`,
    );
  const excess = [...found]
    .filter(([key]) => !expected.has(key))
    .map(([key, value]) => `${key} is made up: ${show(value)}`);
  return [...wrong, ...excess].slice(0, SHOWN_MAX);
}

function show(value: unknown): string {
  return JSON.stringify(value, (_name, part) => (typeof part === 'bigint' ? `${part}` : part));
}
