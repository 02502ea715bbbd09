import { endOfString, parseJson } from '../../parseJson.ts';
import { LEVELS_MAX } from '../../proof.ts';
import { assertNames } from './names.ts';
import { SavedFileError } from './savedFile.ts';

/** What a file holds. */
export interface Values {
  readonly values: readonly unknown[];
  /** Whether the last one is not whole. */
  readonly isCut: boolean;
  /** The lines that are no part of the answer. */
  readonly others: readonly string[];
}

/** Far more than any answer has. */
export const BYTES_MAX = 8 * 1_024 * 1_024;
const VALUES_MAX = 1_000_000;
const TOO_DEEP = `It is nested deeper than ${LEVELS_MAX} levels.`;

/** @throws SavedFileError where it is passed */
export function assertFew(values: readonly unknown[]): void {
  if (values.length > VALUES_MAX) throw new SavedFileError('It has more than a million parts.');
}

/** @throws SavedFileError for bytes that are no text, and for too many */
export function decode(saved: Uint8Array | string, bytesMax: number): string {
  if (saved.length > bytesMax) {
    throw new SavedFileError(
      `It has more than ${bytesMax} bytes: svc verify --max-bytes takes more.`,
    );
  }
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

const STATUS_LINE = /^HTTP\/\d+(?:\.\d+)? \d{3}(?: [^\r\n]*)?(?=\r?\n|$)/;
const END_OF_HEADERS = /\r?\n\r?\n/;
/** A line of headers or trailers. */
const FIELD = /^[\w-]+:[^\r\n]*\r?$/;
/** What a client of streams takes for a field of an event, also behind what some take for a line end. */
const OF_EVENTS = /(?:^|[^\t -~\xa0-\u2027\u202a-\uffff])[^\w:]*(?:data|event|id|retry)[^\w:]*:/i;

const isField = (line: string): boolean => FIELD.test(line) && !OF_EVENTS.test(line);

/** A file without the headers before its body, of which there are several behind a proxy. */
interface Parted {
  readonly body: string;
  readonly heads: readonly string[];
}

/** @throws SavedFileError for a line of headers that is none */
export function partHeaders(text: string): Parted {
  const heads: string[] = [];
  let body = text;
  for (let head = body.trimStart(); STATUS_LINE.test(head); head = body.trimStart()) {
    const end = END_OF_HEADERS.exec(head);
    const lines = head.slice(0, end?.index).split('\n').slice(1);
    if (!lines.every(isField)) throw new SavedFileError('Its headers have a line of another form.');
    heads.push(...lines);
    body = end ? head.slice(end.index + end[0].length) : '';
  }
  const json = body.trimStart();
  return { body: /^[{[]/.test(json) ? json : body, heads };
}

/** What ends a stream, also where it was saved without `data:`. */
export const DONE = '[DONE]';

const TRAILERS_MAX = 64 * 1_024;

/**
 * The JSON values of a body: one, or one behind the other, with trailers behind the last.
 *
 * @throws SavedFileError for anything else
 */
export function valuesIn(body: string): Values {
  const whole = tryRead(body);
  if (whole) return { values: [whole.value], isCut: false, others: [] };
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
    if (end === undefined) return { values, isCut: true, others: [] };
    const parsed = tryRead(body.slice(at, end));
    if (parsed === undefined) throw new SavedFileError(`It is not JSON at character ${at}.`);
    values.push(parsed.value);
    assertFew(values);
    at = end;
  }
  const rest = body.slice(at);
  if (at > 0 && rest.length > TRAILERS_MAX) {
    throw new SavedFileError('It has more than 64 KiB behind the answer.');
  }
  const others = rest.split('\n');
  if (at === 0 || !others.every((line) => /^\r?$/.test(line) || isField(line))) {
    throw new SavedFileError(`It is not JSON at character ${at}.`);
  }
  return { values, isCut: false, others };
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

/**
 * The same of an answer.
 *
 * @throws SavedFileError for names that readers take differently, too
 */
export function tryRead(text: string): { value: unknown } | undefined {
  const parsed = tryParse(text);
  if (parsed) assertNames(text);
  return parsed;
}
