export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const fieldOf = (value: unknown, field: string): unknown =>
  isObject(value) ? value[field] : undefined;

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
