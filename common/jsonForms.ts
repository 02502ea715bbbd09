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
