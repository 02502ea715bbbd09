/** Credits as a JSON number. Balances are bounded far below 2^53, and a breach must not pass. */
export function creditsNumber(credits: bigint): number {
  const number = Number(credits);
  if (!Number.isSafeInteger(number)) throw new RangeError('credits exceed what JSON can carry');
  return number;
}

/** One credit is 0.01 stablecoin unit: hundredths, so the division is exact to the cent. */
export function usdcValue(credits: bigint): number {
  return creditsNumber(credits) / 100;
}

/** The last moment that a Date can tell. */
const TIME_MS_MAX = 8.64e15;

/** A ledger time, which has whole seconds, as ISO 8601 UTC; never later than a Date can tell. */
export function isoTime(unixSeconds: bigint): string {
  return new Date(Math.min(Number(unixSeconds) * 1_000, TIME_MS_MAX)).toISOString();
}

/** A digest as the interface spells it. */
export function sha256Text(hex: string): string {
  return `sha256:${hex}`;
}

/** What JSON leaves as it is, and some readers of lines take for the end of one: Python's, for one. */
const LINE_ENDS = /[\u0085\u2028\u2029]/g;

/** A value as the data of a server-sent event: JSON on one line for every reader of lines. */
export function eventData(value: unknown): string {
  return JSON.stringify(value).replace(
    LINE_ENDS,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
