import type { Logger } from '../logger.ts';
import { openTokenizers, PROMPT_BYTES_MAX, type Tokenizers } from './tokenizers.ts';

/**
 * Token counts of texts whose model has no tokenizer at hand.
 *
 * Where money follows from a bound, it favours the client. A prompt is never counted larger than it
 * is. A worker's count is never accepted above the most that such a text can hold. The latter was
 * measured with the tokenizers of five open models: docs/token-counts.md has the tables.
 */

/** Common tokenizers average four bytes a token and seldom reach eight over a whole prompt. */
const PROMPT_BYTES_PER_TOKEN = 8;

/** The least number of tokens that a conversation may have. */
export function estimatePromptTokens(messages: readonly { content: string }[]): number {
  const bytes = messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  return Math.ceil(bytes / PROMPT_BYTES_PER_TOKEN);
}

const DIGITS_PER_TOKEN = 3;

/**
 * The least number of tokens that texts have in any common vocabulary. Every eight bytes have one. So
 * has every word, and three digits have one, since no token holds more of them.
 */
function leastTokens(texts: readonly string[]): number {
  const words = texts.reduce((sum, text) => sum + countWords(text), 0);
  return Math.max(estimatePromptTokens(texts.map((content) => ({ content }))), words);
}

/** Counts runs without white space, and in them each run of up to three digits apart. */
function countWords(text: string): number {
  let words = 0;
  let isWord = false;
  let digits = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const isDigit = code >= 0x30 && code <= 0x39;
    if (isDigit) {
      if (digits % DIGITS_PER_TOKEN === 0) words += 1;
      digits += 1;
      isWord = false;
      continue;
    }
    digits = 0;
    const isBlank = code === 0x20 || (code >= 0x09 && code <= 0x0d);
    if (!isBlank && !isWord) words += 1;
    isWord = !isBlank;
  }
  return words;
}

/** The longest tokens of common vocabularies, runs of spaces, have 128 characters. */
const CHARACTERS_PER_TOKEN_MAX = 128;

/**
 * The longest text of an answer, in UTF-16 code units. A worker cuts its text off there, and the API
 * counts a longer one as the worker's failure.
 */
export function answerCharactersMax(tokenLimit: number): number {
  return tokenLimit * CHARACTERS_PER_TOKEN_MAX;
}

export type TokenCounts = ReturnType<typeof countWith>;

interface Message {
  role: string;
  content: string;
}

/** The token that ends an answer: engines count it, and no text comes of it. */
const END_TOKENS = 1;

const encoder = new TextEncoder();

/**
 * @param options.folder holds `<model id>.json` for each model that is counted exactly, in the form of
 *   Hugging Face's `tokenizer.json`. Without a folder all models are estimated
 * @throws ConfigError when a file in it is no tokenizer
 */
export async function createTokenCounts(options: { folder: string | undefined; logger: Logger }) {
  const { folder, logger } = options;
  const tokenizers = folder === undefined ? undefined : await openTokenizers({ folder, logger });
  return { ...countWith(tokenizers?.count), close: async (): Promise<void> => tokenizers?.close() };
}

/**
 * Counts tokens as a model does, or within the bounds of this file where it cannot.
 *
 * @param count undefined without tokenizers; resolves to undefined where it could not count
 */
export function countWith(count: Tokenizers['count'] | undefined) {
  return {
    /** The least number of tokens that a conversation holds for this model. */
    async prompt(modelId: string, messages: readonly Message[]): Promise<number> {
      const texts = beginningOf(messages.map(leastText));
      const counted = await count?.({ modelId, texts, kind: 'prompt' });
      return counted ?? leastTokens(messages.map(leastText));
    },
    /** The largest number of tokens that a worker may have needed for this text. */
    async output(modelId: string, text: string): Promise<number> {
      const counted = await count?.({ modelId, texts: [text], kind: 'answer' });
      if (counted === undefined) return boundTokens(text);
      // Every token yields at least one byte.
      return Math.min(counted + END_TOKENS, Buffer.byteLength(text));
    },
  };
}

/**
 * What every chat template keeps of a message: some trim it, some drop the reasoning of an earlier
 * answer. What a template adds is not counted either, so that no prompt that fits is refused.
 */
function leastText({ role, content }: Message): string {
  const kept = role === 'assistant' ? content.split('</think>').at(-1) : content;
  return kept?.trim() ?? '';
}

/**
 * The part of a conversation that is counted: the whole has no fewer tokens than its beginning. An
 * estimate by bytes could refuse a long text of long tokens that fits.
 */
function beginningOf(texts: readonly string[]): string[] {
  let room = new Uint8Array(PROMPT_BYTES_MAX);
  return texts.map((text) => {
    const { read, written } = encoder.encodeInto(text, room);
    room = room.subarray(written);
    return text.slice(0, read);
  });
}

/**
 * Tokens for each element of a text. The least rates that bound the tokens of every measured text, by
 * every tokenizer, and those nearest to the mean of the tokenizers.
 */
const RATES = {
  /** A run of ASCII letters; a capital after a small letter begins another. */
  word: { bound: 1.42, estimate: 1.1 },
  /** Its fifth to eighth letter. */
  fifthLetter: { bound: 0.15, estimate: 0 },
  /** Its ninth letter, and each one after it. */
  ninthLetter: { bound: 0.58, estimate: 0.52 },
  digit: { bound: 1.3, estimate: 0.76 },
  /** Any other visible ASCII character. */
  sign: { bound: 0.7, estimate: 0.61 },
  /** A run of line ends, or of at least two spaces. */
  blank: { bound: 1.06, estimate: 0.67 },
  greekLetter: { bound: 1, estimate: 0.6 },
  cyrillicLetter: { bound: 0.58, estimate: 0.4 },
  /** Any other character of two bytes. */
  twoBytes: { bound: 1.09, estimate: 0.85 },
  /** A Chinese, Japanese or Korean character. */
  eastAsian: { bound: 1, estimate: 0.67 },
  /** Any other character of three bytes. */
  threeBytes: { bound: 1.4, estimate: 1.07 },
  fourBytes: { bound: 2.9, estimate: 2.04 },
};

type Rates = Readonly<Record<keyof typeof RATES, number>>;

const ratesOf = (kind: 'bound' | 'estimate') =>
  Object.fromEntries(
    Object.entries(RATES).map(([element, rate]) => [element, rate[kind]]),
  ) as Rates;
const BOUND = ratesOf('bound');
const ESTIMATE = ratesOf('estimate');

/** Short texts differ most from the average, and the token that ends an answer counts, too. */
const SPARE_TOKENS = 2;

/** The most tokens that a worker may have needed for a text; never more than it has bytes. */
export function boundTokens(text: string): number {
  const bound = Math.ceil(weigh(text, BOUND)) + SPARE_TOKENS;
  return Math.min(bound, Buffer.byteLength(text));
}

/** About as many tokens as a text has; at least one unless it is empty, and never more than bytes. */
export function estimateTokens(text: string): number {
  return Math.min(Math.ceil(weigh(text, ESTIMATE)), Buffer.byteLength(text));
}

function weigh(text: string, rates: Rates): number {
  let tokens = 0;
  /** Letters of the word so far; 0 outside of one. */
  let letters = 0;
  let isSmall = false;
  let blanks = 0;
  let isAfterLineEnd = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const isSmallLetter = code >= 0x61 && code <= 0x7a;
    if (isSmallLetter || (code >= 0x41 && code <= 0x5a)) {
      const goesOn = letters > 0 && (isSmall === isSmallLetter || (letters === 1 && isSmallLetter));
      letters = goesOn ? letters + 1 : 1;
      isSmall = isSmallLetter;
      if (letters === 1) tokens += rates.word;
      else if (letters > 8) tokens += rates.ninthLetter;
      else if (letters > 4) tokens += rates.fifthLetter;
      blanks = 0;
      isAfterLineEnd = false;
      continue;
    }
    letters = 0;
    if (code === 0x0a || code === 0x0d) {
      if (!isAfterLineEnd) tokens += rates.blank;
      isAfterLineEnd = true;
      blanks = 0;
      continue;
    }
    isAfterLineEnd = false;
    if (code === 0x20 || code === 0x09) {
      blanks += 1;
      if (blanks === 2) tokens += rates.blank;
      continue;
    }
    blanks = 0;
    if (code >= 0xd800 && code <= 0xdbff) at += 1;
    tokens += rateOf(code, rates);
  }
  return tokens;
}

function rateOf(code: number, rates: Rates): number {
  if (code < 0x80) return code >= 0x30 && code <= 0x39 ? rates.digit : rates.sign;
  if (code < 0x800) {
    if (code < 0x370 || code >= 0x530) return rates.twoBytes;
    return code < 0x400 ? rates.greekLetter : rates.cyrillicLetter;
  }
  if (code >= 0xd800 && code <= 0xdbff) return rates.fourBytes;
  return isEastAsian(code) ? rates.eastAsian : rates.threeBytes;
}

function isEastAsian(code: number): boolean {
  return (
    (code >= 0x2e80 && code < 0xa4d0) ||
    (code >= 0xac00 && code < 0xd7b0) ||
    (code >= 0xf900 && code < 0xfb00) ||
    code >= 0xff00
  );
}

// How long a model may be silent, in milliseconds: the tokens of its prompt decide. API and worker
// use the same limits. A longer silence is the worker's fault.

/** The longest time without text, reasoning or another sign of life. */
export const IDLE_MS = 20_000;

/** An answer that the time limit cuts off is paid only if its last text is no older than this. */
export const TEXT_AGE_MS_MAX = 20_000;

/** A second for each 500 tokens of a prompt. */
const READING_MS_PER_TOKEN = 2;
/** Leaves another worker 25 s, until the API stops answers. */
const FIRST_SILENCE_MS_MAX = 80_000;
/** More text than the longest limit needs, in any language; it takes some milliseconds to weigh. */
const CHARACTERS_WEIGHED_MAX = 262_144;

/** What of a request its model reads. */
interface Prompt {
  readonly messages: readonly { readonly content: string; readonly tool_calls?: unknown }[];
  readonly tools?: unknown;
}

/** All of it, calls and tools as JSON: so long the reading takes, to API and worker alike. */
export function promptTexts({ messages, tools }: Prompt): { content: string }[] {
  return [
    ...messages.map(({ content, tool_calls }) => ({
      content: tool_calls ? content + JSON.stringify(tool_calls) : content,
    })),
    ...(tools ? [{ content: JSON.stringify(tools) }] : []),
  ];
}

/**
 * How long a model may be silent before its first text, while it reads the prompt. It is computed from
 * the text alone, without a tokenizer, so that API and worker have the same limit.
 */
export function firstSilenceMs(messages: readonly { content: string }[]): number {
  let tokens = 0;
  let charactersLeft = CHARACTERS_WEIGHED_MAX;
  for (const { content } of messages) {
    tokens += estimateTokens(content.slice(0, charactersLeft));
    charactersLeft = Math.max(0, charactersLeft - content.length);
  }
  return Math.min(IDLE_MS + tokens * READING_MS_PER_TOKEN, FIRST_SILENCE_MS_MAX);
}

/**
 * When a silence is too long. A sign of life before the first text never shortens the time to read.
 *
 * @param since.begunAtMs when the model was asked
 * @param since.aliveAtMs when it last gave a sign of life
 * @param firstMs what `firstSilenceMs` says; undefined once there was text or reasoning
 */
export function silentAtMs(
  since: { begunAtMs: number; aliveAtMs: number },
  firstMs: number | undefined,
): number {
  return Math.max(since.aliveAtMs + IDLE_MS, since.begunAtMs + (firstMs ?? 0));
}
