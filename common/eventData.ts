/** What JSON leaves as it is, and some readers of lines take for the end of one: Python's, for one. */
const LINE_ENDS = /[\u0085\u2028\u2029]/g;

/** A value as the data of a server-sent event: JSON on one line for every reader of lines. */
export function eventData(value: unknown): string {
  return JSON.stringify(value).replace(
    LINE_ENDS,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
