import type { Json } from '../../proof.ts';

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const fieldOf = (value: unknown, field: string): unknown =>
  isObject(value) ? value[field] : undefined;

/** Without the fields that are undefined. */
export const onlyGiven = (fields: object): Record<string, Json> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** Null, an empty list and an empty object are as good as nothing. */
export function unlessEmpty(value: unknown): unknown {
  if (value === null) return undefined;
  return typeof value === 'object' && Object.keys(value).length === 0 ? undefined : value;
}

/** Whether a field says what its absence does: by null, what is empty, or one of these values. */
export const isOff = (value: unknown, off: readonly unknown[]): boolean =>
  unlessEmpty(value ?? null) === undefined ||
  off.some((one) => JSON.stringify(one) === JSON.stringify(value));

/**
 * The service drops a field named `__proto__` where it knows the object: here, and along a path of
 * fields.
 */
export function withoutPrototype(value: unknown, ...path: readonly string[]): unknown {
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([field]) => field !== '__proto__');
  const [next, ...rest] = path;
  return Object.fromEntries(
    kept.map(([field, held]) => [field, field === next ? withoutPrototype(held, ...rest) : held]),
  );
}

const SHOWN_MAX = 300;

/** What a file says, as part of a sentence: in one line, without what steers a terminal. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : 'nothing';
  const plain = text
    .slice(0, 2 * SHOWN_MAX)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  return plain.length > SHOWN_MAX ? `${plain.slice(0, SHOWN_MAX)}…` : plain;
}
