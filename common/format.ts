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

/** The last moment that a Date can hold. */
const TIME_MS_MAX = 8.64e15;

/** A ledger time, which has whole seconds, as ISO 8601 UTC; never later than a Date can hold. */
export function isoTime(unixSeconds: bigint): string {
  return new Date(Math.min(Number(unixSeconds) * 1_000, TIME_MS_MAX)).toISOString();
}

export const isoTimeOrNull = (unixSeconds: bigint | null): string | null =>
  unixSeconds === null ? null : isoTime(unixSeconds);

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

/** What all chunks of one answer have, in the order of their bytes. */
export interface ChunkHead {
  readonly id: string;
  readonly object: 'chat.completion.chunk';
  readonly created: number;
  readonly model: string;
}

/**
 * Writes the chunks of one answer, as the data of server-sent events. What all of them have is written
 * once. For a chunk of one token, writing a whole object takes four times as long.
 */
export function createDeltaData(head: ChunkHead) {
  const before = `${eventData(head).slice(0, -1)},"choices":[{"index":0,"delta":`;
  return (delta: object, finishReason: string | null = null, more: object = {}): string => {
    const behind = Object.keys(more).length === 0 ? '' : `,${eventData(more).slice(1, -1)}`;
    return `${before}${eventData(delta)},"finish_reason":${JSON.stringify(finishReason)}}]${behind}}`;
  };
}

/** What a JSON text may hold, beside its bytes. */
interface ScanLimits {
  /** Levels of objects and lists, one within another. */
  depth: number;
  /** Members of all objects and lists. */
  values: number;
  /** Those of any field of the outermost object but the conversation's. */
  fieldValues: number;
}

/**
 * What the body of a request may hold. Deep nesting, or many small values, take a parser up to a hundred
 * times as long as text does.
 */
export const REQUEST_LIMITS: ScanLimits = { depth: 128, values: 50_000, fieldValues: 16_384 };

/** What holds the conversation, by the formats' names. */
const CONVERSATIONS: readonly unknown[] = ['messages', 'input'];

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [BRACE, BRACE_END, BRACKET, BRACKET_END] = [0x7b, 0x7d, 0x5b, 0x5d];
/** A longer name is none of ours, and is not repeated to its client. */
const NAME_BYTES_MAX = 64;

/**
 * Reads the bytes once, and keeps no more of them than where the last field's name was. What is no
 * JSON is left to the parser.
 *
 * @returns how many values it met, and what no parser should be given, by the outermost field
 */
export function scanJson(bytes: Uint8Array, limits: ScanLimits = REQUEST_LIMITS) {
  let depth = 0;
  let values = 0;
  let fieldValues = 0;
  let isObject = false;
  let isNameNext = false;
  let name: Uint8Array | undefined;
  let fieldValuesMax = limits.fieldValues;
  const faultOf = (exceeded: keyof ScanLimits) =>
    describe(exceeded, limits[exceeded], nameIn(name));

  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case QUOTE: {
        const end = endOfText(bytes, at);
        if (isNameNext) {
          name = bytes.subarray(at, end + 1);
          fieldValues = 0;
          fieldValuesMax = limits.fieldValues;
          isNameNext = false;
        }
        at = end;
        break;
      }
      case BRACE:
      case BRACKET:
        depth += 1;
        if (depth > limits.depth) return { values, fault: faultOf('depth') };
        if (depth === 1) isObject = bytes[at] === BRACE;
        isNameNext = depth === 1 && isObject;
        values += 1;
        fieldValues += 1;
        break;
      case BRACE_END:
      case BRACKET_END:
        depth -= 1;
        break;
      case COMMA:
        isNameNext = depth === 1 && isObject;
        values += 1;
        fieldValues = isNameNext ? 0 : fieldValues + 1;
        break;
    }
    if (values > limits.values) return { values, fault: faultOf('values') };
    if (fieldValues > fieldValuesMax) {
      if (!CONVERSATIONS.includes(nameIn(name))) {
        return { values, fault: faultOf('fieldValues') };
      }
      fieldValuesMax = limits.values;
    }
  }
  return { values, fault: undefined };
}

/** @returns where the text that begins at `at` has its closing quote, or else where the bytes end */
function endOfText(bytes: Uint8Array, at: number): number {
  let end = at + 1;
  while (end < bytes.length && bytes[end] !== QUOTE) end += bytes[end] === BACKSLASH ? 2 : 1;
  return end;
}

function nameIn(quoted: Uint8Array | undefined): string | undefined {
  if (!quoted || quoted.length > NAME_BYTES_MAX) return undefined;
  try {
    return JSON.parse(new TextDecoder().decode(quoted));
  } catch {
    return undefined;
  }
}

function describe(bound: keyof ScanLimits, max: number, param: string | undefined) {
  const what = param === undefined ? 'Invalid request body' : `Invalid value for '${param}'`;
  const refuse = (fault: string, details: { max_depth: number } | { max_values: number }) => {
    return { message: `${what}: ${fault}; send a flatter or shorter one.`, param, details };
  };
  if (bound === 'depth')
    return refuse(`is nested more than ${max} levels deep`, { max_depth: max });
  const holds = bound === 'values' ? 'makes the body hold' : 'holds';
  return refuse(`${holds} more than ${max} values`, { max_values: max });
}
