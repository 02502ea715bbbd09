import type { Value } from '../values.ts';
import { type Finding, fails, holds } from './check.ts';

/** A value as people write it: bytes in hex, keys in base58. */
export function show(value: Value): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value);
}

/**
 * Compares values pairwise.
 *
 * @param pairs what was found and what it must be, by the name to call it in a failure
 * @param agreement the finding's detail when all of them are equal
 */
export function compare(
  pairs: Readonly<Record<string, readonly [found: Value, expected: Value]>>,
  agreement: string,
): Finding {
  const differences = Object.entries(pairs)
    .filter(([, [found, expected]]) => show(found) !== show(expected))
    .map(([name, [found, expected]]) => `${name} is ${show(found)}, not ${show(expected)}`);
  return differences.length === 0 ? holds(agreement) : fails(`${differences.join('; ')}.`);
}
