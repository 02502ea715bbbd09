import { evaluate } from './constants.ts';
import { code, grouped } from './markdown.ts';
import type { RustSource } from './rustSource.ts';
import type { Reading } from './stepErrors.ts';

/** How the program bounds a value, here X, with the words for it; numbers are filled in. */
const BOUNDS: readonly [RegExp, string][] = [
  [/^\((\w+)\.\.=(\w+)\)\.contains\(X\)$/, '$1 to $2'],
  [/^(?:u64::from\()?X\)? <= ([A-Z_]+)$/, 'at most $1'],
  [/^X\.len\(\) <= ([A-Z_]+)$/, 'at most $1'],
  [/^X >= (\d+)$/, 'at least $1'],
  [/^X > 0$/, 'at least 1'],
  [/^!X\.is_empty\(\)$/, 'at least one'],
  [/^!X\.0\.is_empty\(\) && X\.0\.len\(\) <= (\d+)$/, '1 to $1 characters of printable ASCII'],
  [/^X != NONE\b.*$/, 'not the zero key'],
];

/** The bounds that the checks set to an argument, in words. */
export const rangeOf = (source: RustSource, name: string, { steps }: Reading): string => {
  const written = new RegExp(`\\barguments\\.(?:\\w+\\(\\)\\.)?${name}\\b`, 'g');
  const number = (text: string): string => {
    const value = /^\d/.test(text) ? BigInt(text) : evaluate(source, text);
    return value === undefined ? code(text) : grouped(value);
  };
  const found = steps.flatMap((step) => {
    if (step.kind !== 'require') return [];
    const condition = step.holds.replace(written, 'X');
    const bound = BOUNDS.find(([pattern]) => pattern.test(condition));
    if (bound === undefined) return [];
    const [, ...limits] = bound[0].exec(condition) ?? [];
    return [bound[1].replace(/\$(\d)/g, (_, index) => number(limits[Number(index) - 1] ?? ''))];
  });
  return [...new Set(found)].join(', ');
};
