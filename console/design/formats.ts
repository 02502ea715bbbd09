/**
 * How numbers and times are written, in one fixed form. Without `Intl`: a browser takes longer to create
 * its first formatter than to draw the page.
 */

/** A whole number with commas between its thousands. */
export function formatCount(value: number | bigint): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** A number of things, whose plural takes an s. */
export function countOf(value: number, thing: string): string {
  return `${formatCount(value)} ${value === 1 ? thing : `${thing}s`}`;
}

/** A number of calls of tools. */
export const countOfCalls = (value: number): string =>
  value === 1 ? '1 call of a tool' : `${formatCount(value)} calls of tools`;

/** The first and last four characters of an address, which is what people compare. */
export function shorten(text: string): string {
  return text.length <= 12 ? text : `${text.slice(0, 4)}…${text.slice(-4)}`;
}

const SIZES = [
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'K'],
] as const;

/** A number in at most four digits, as `12.3K`. */
export function formatCompact(value: number): string {
  const [size, letter] = SIZES.find(([least]) => value >= least) ?? [1, ''];
  return `${Number((value / size).toFixed(1))}${letter}`;
}

const SECOND_MS = 1_000;
const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', SECOND_MS],
] as const;

/** In its largest unit, as `5m`; undefined below a second. */
function inUnit(ms: number): string | undefined {
  const unit = UNITS.find(([, length]) => ms >= length);
  return unit && `${Math.trunc(ms / unit[1])}${unit[0]}`;
}

/** A time that long ago: `5m ago`. */
export const formatAgo = (ms: number): string => (inUnit(ms) ? `${inUnit(ms)} ago` : 'now');

/** A time that far ahead: `in 5m`. */
export const formatAhead = (ms: number): string => (inUnit(ms) ? `in ${inUnit(ms)}` : 'now');

/** `2026-11-05 18:14:44 UTC`. */
export function formatTime(iso: string): string {
  return `${new Date(iso).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** The same to the minute, where a title says that it is UTC: `2026-11-05 18:14`. */
export function formatMinute(iso: string): string {
  return formatTime(iso).slice(0, 16);
}

/** Milliseconds to the whole one, from ten thousand on as seconds; null where there are none. */
export function formatMs(ms: number | null): string {
  if (ms === null) return '–';
  return ms < 10_000 ? `${formatCount(Math.round(ms))} ms` : `${(ms / SECOND_MS).toFixed(1)} s`;
}
