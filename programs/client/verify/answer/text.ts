import { endOfString, parseJson } from '../../parseJson.ts';
import { LEVELS_MAX } from '../../proof.ts';
import { SavedFileError } from './savedFile.ts';

/** What a file holds. */
export interface Values {
  readonly values: readonly unknown[];
  /** Whether the last one is not whole. */
  readonly isCut: boolean;
}

// Far more than any answer has.
const LENGTH_MAX = 64 * 1_024 * 1_024;
const VALUES_MAX = 1_000_000;
const TOO_DEEP = `It is nested deeper than ${LEVELS_MAX} levels.`;

/** @throws SavedFileError where it is passed */
export function assertFew(values: readonly unknown[]): void {
  if (values.length > VALUES_MAX) throw new SavedFileError('It has more than a million parts.');
}

/** @throws SavedFileError for bytes that are no text, and for too many */
export function decode(saved: Uint8Array | string): string {
  if (saved.length > LENGTH_MAX) throw new SavedFileError('It has more than 64 MiB.');
  if (typeof saved === 'string') return saved.replace(/^\ufeff/, '');
  try {
    return new TextDecoder(encodingOf(saved), { fatal: true }).decode(saved);
  } catch {
    throw new SavedFileError('It is no text in UTF-8: save the answer as it came.');
  }
}

/** Shells of Windows write UTF-16, and its mark before it. */
function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

const STATUS_LINE = /^HTTP\/[\d.]+ \d{3}/;
const END_OF_HEADERS = /\r?\n\r?\n/;

/** What follows the headers, of which there are several behind a proxy, or an early status. */
export function bodyOf(text: string): string {
  let body = text;
  for (let head = body.trimStart(); STATUS_LINE.test(head); head = body.trimStart()) {
    const end = END_OF_HEADERS.exec(head);
    body = end ? head.slice(end.index + end[0].length) : '';
  }
  const json = body.trimStart();
  return /^[{[]/.test(json) ? json : body;
}

/** What ends a stream, also where it was saved without `data:`. */
export const DONE = '[DONE]';

/** A line of a trailer, or nothing. */
const TRAILER = /^([\w-]+:[^\r\n]*)?\r?$/;
const TRAILERS_MAX = 64 * 1_024;

/**
 * The JSON values of a body: one, or one behind the other, with trailers behind the last.
 *
 * @throws SavedFileError for anything else
 */
export function valuesIn(body: string): Values {
  const whole = tryParse(body);
  if (whole) return { values: [whole.value], isCut: false };
  const values: unknown[] = [];
  let at = 0;
  for (;;) {
    while (at < body.length && ' \t\r\n'.includes(body.charAt(at))) at += 1;
    if (body.startsWith(DONE, at)) {
      at += DONE.length;
      break;
    }
    if (body[at] !== '{' && body[at] !== '[') break;
    const end = endOfValue(body, at);
    if (end === undefined) return { values, isCut: true };
    const parsed = tryParse(body.slice(at, end));
    if (parsed === undefined) throw new SavedFileError(`It is not JSON at character ${at}.`);
    values.push(parsed.value);
    assertFew(values);
    at = end;
  }
  const rest = body.slice(at);
  if (at > 0 && rest.length > TRAILERS_MAX) {
    throw new SavedFileError('It has more than 64 KiB behind the answer.');
  }
  if (at === 0 || !rest.split('\n').every((line) => TRAILER.test(line))) {
    throw new SavedFileError(`It is not JSON at character ${at}.`);
  }
  return { values, isCut: false };
}

const MARKS = /["{}[\]]/g;

/** The lists and objects that are open behind each bracket, up to a string without an end. */
function* levelsIn(text: string, start = 0): Generator<{ end: number; levels: number }> {
  let levels = 0;
  MARKS.lastIndex = start;
  for (let mark = MARKS.exec(text); mark; mark = MARKS.exec(text)) {
    let end: number | undefined = mark.index + 1;
    if (mark[0] === '"') end = endOfString(text, mark.index);
    else {
      levels = '{['.includes(mark[0]) ? levels + 1 : Math.max(0, levels - 1);
      if (levels > LEVELS_MAX) throw new SavedFileError(TOO_DEEP);
      yield { end, levels };
    }
    if (end === undefined) return;
    MARKS.lastIndex = end;
  }
}

function assertShallow(text: string): void {
  for (const _ of levelsIn(text));
}

/** Where the value ends that begins at `start`; undefined where the text ends before. */
function endOfValue(text: string, start: number): number | undefined {
  for (const { end, levels } of levelsIn(text, start)) {
    if (levels === 0) return end;
  }
  return undefined;
}

/**
 * @returns undefined where it is not JSON
 * @throws SavedFileError for more levels than every reader takes, also in what is not JSON
 */
export function tryParse(text: string): { value: unknown } | undefined {
  assertShallow(text);
  try {
    return { value: parseJson(text) };
  } catch {
    return undefined;
  }
}
