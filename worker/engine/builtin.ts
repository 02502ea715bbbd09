import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { createRandom, type Random } from '../../common/seededRandom.ts';
import { estimatePromptTokens } from '../../common/tokenizers/tokenCounts.ts';
import { delay } from '../../common/wait.ts';
import type { FinishReason } from '../../common/workerProtocol.ts';
import type { ChatRequest } from '../protocol/contracts.ts';
import { composeCalls } from './builtinCalls.ts';
import { createStopScanner, type Engine, type EngineEvent } from './engine.ts';
import { SchemaRefusedError, schemaValue } from './schemaValue.ts';
import { parameterRefused } from './upstreamErrors.ts';

const OPENING = 'This is the built-in engine, not a language model; it strings words together:';

const VOCABULARY = [
  ...['and', 'then', 'while', 'before', 'because', 'under', 'across', 'beyond', 'the', 'every'],
  ...['quiet', 'river', 'copper', 'window', 'carries', 'light', 'over', 'a', 'narrow', 'bridge'],
  ...['where', 'small', 'boats', 'wait', 'for', 'morning', 'with', 'patient', 'hands', 'somewhere'],
];

/** The number of words of the last message that the answer may repeat. */
const ECHOED_WORDS_MAX = 200;
const NATURAL_WORDS_MIN = 30;
const NATURAL_WORDS_SPREAD = 30;
const SENTENCE_WORDS = 9;
const REQUESTED_LENGTH = /\b(\d{1,6})\s+words\b/i;

/**
 * The answer as tokens: words, each with the space before it. An opening names the engine; words from
 * the last message and from a small vocabulary follow.
 *
 * An answer has 30 to 59 words, or as many as the last message asks for ("write 500 words").
 */
function* compose(chat: ChatRequest, random: Random): Generator<string> {
  const question = chat.messages.at(-1)?.content ?? '';
  const echoed = question.split(/\s+/).filter(isWord).slice(0, ECHOED_WORDS_MAX);
  const words = [...VOCABULARY, ...echoed];
  const requested = REQUESTED_LENGTH.exec(question)?.[1];
  const length =
    requested === undefined
      ? NATURAL_WORDS_MIN + random.below(NATURAL_WORDS_SPREAD)
      : Number(requested);
  const opening = OPENING.split(' ');
  for (let position = 0; position < length; position += 1) {
    const word = opening[position] ?? words[random.below(words.length)];
    const written = position - opening.length + 1;
    const isEnd = position === length - 1 || (written > 0 && written % SENTENCE_WORDS === 0);
    yield `${position === 0 ? '' : ' '}${word}${isEnd ? '.' : ''}`;
  }
}

const TOKEN = /.{1,4}/gu;
const SEEDS = 2 ** 31;
/** A hundred times what usual schemas take, for a machine that is busy. */
const SCHEMA_MS_MAX = 5_000;
const jsonSchemaFormat = z.object({ json_schema: z.object({ schema: z.unknown() }) });

/**
 * JSON of the format, in tokens of a few characters; equal requests give equal JSON.
 *
 * @throws WorkerError `parameter_refused` for a schema that it finds no value of
 */
async function composeJson(
  chat: ChatRequest,
  limits: { msMax: number; signal: AbortSignal },
): Promise<string[]> {
  const { type, ...format } = chat.response_format ?? {};
  const { data } = jsonSchemaFormat.safeParse(format);
  if (type !== 'json_object' && !data) throw parameterRefused('response_format');
  const schema = data?.json_schema.schema;
  const seed = createRandom(JSON.stringify([chat.seed, chat.messages, schema])).below(SEEDS);
  try {
    const text = schema === undefined ? '{}' : await schemaValue({ schema, seed }, limits);
    return text.match(TOKEN) ?? [];
  } catch (error) {
    if (error instanceof SchemaRefusedError) throw parameterRefused('response_format');
    throw error;
  }
}

/** All calls, or else the text: JSON where a format is asked. */
async function* tokensOf(
  chat: ChatRequest,
  calls: Awaited<ReturnType<typeof composeCalls>>,
  { random, ...limits }: { random: Random; msMax: number; signal: AbortSignal },
): AsyncGenerator<string | EngineEvent> {
  for (const [index, { arguments: json, ...call }] of calls.entries()) {
    yield { type: 'call', index, ...call, text: '' };
    for (const text of json.match(TOKEN) ?? []) yield { type: 'call', index, text };
  }
  if (calls.length > 0) return;
  yield* chat.response_format ? await composeJson(chat, limits) : compose(chat, random);
}

/** Punctuation alone is not a word. */
function isWord(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/**
 * A substitute for a model. Equal conversations and seeds give equal text; without a seed each
 * answer differs, but for JSON and calls of tools. It obeys the token limit and stop sequences.
 *
 * @param options.tokenDelayMs the time for each token, to try out slow answers
 * @param options.schemaMsMax how long the search for a value of a schema may take
 */
export function createBuiltinEngine(options: {
  tokenDelayMs: number;
  schemaMsMax?: number;
}): Engine {
  const { tokenDelayMs, schemaMsMax: msMax = SCHEMA_MS_MAX } = options;
  return {
    kind: 'builtin',
    async *generate(chat, { tokenLimit, signal }) {
      const random = createRandom(JSON.stringify([chat.seed ?? randomUUID(), chat.messages]));
      const scanner = createStopScanner(chat.stop);
      const calls = await composeCalls(chat, { msMax, signal });
      let finishReason: FinishReason = calls.length > 0 ? 'tool_calls' : 'stop';
      let completionTokens = 0;
      for await (const token of tokensOf(chat, calls, { random, msMax, signal })) {
        if (completionTokens === tokenLimit) {
          finishReason = 'length';
          break;
        }
        if (tokenDelayMs > 0) await delay(tokenDelayMs, signal);
        signal.throwIfAborted();
        completionTokens += 1;
        if (typeof token !== 'string') {
          yield token;
          continue;
        }
        const { text, isStopped } = scanner.add(token);
        if (text !== '') yield { type: 'text', text };
        if (isStopped) break;
      }
      const rest = scanner.flush();
      if (rest !== '') yield { type: 'text', text: rest };
      const usage = { promptTokens: estimatePromptTokens(chat.messages), completionTokens };
      yield { type: 'end', finishReason, usage };
    },
  };
}
