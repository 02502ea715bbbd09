import { createRandom } from '../../common/seededRandom.ts';
import {
  type ChatCompletionRequest,
  createChatCompletionParser,
} from '../contracts/chatCompletion.ts';

/** A request like any other whose right answer is known. */
export interface CanaryQuestion {
  /** May have a `response_format`, or a tool that has to be called with the answer. */
  request: ChatCompletionRequest;
  /** The answer: lower-case words in their order, or one number. */
  expected: readonly string[];
}

const OPENINGS = ['', '', 'Hi! ', 'Hello, ', 'Quick question: ', 'Can you help me? '];
const ENDINGS = ['', '', ' Thanks!', ' Answer briefly.', ' Only the answer, please.'];
const TOKEN_LIMITS = [48, 64, 96, 128];
/** One of so many questions has a schema: sums and reversals in turn. */
const FORMAT_EVERY = 3;
/** As many, behind those, have to call a tool. */
const TOOL_OFFSET = 2;
const REQUEST_SEED_MAX = 2 ** 31 - 1;
const WORDS = 'apple river stone lamp garden window paper bread cloud horse music table winter'
  .concat(' ocean pencil forest silver coffee bridge candle market yellow summer ladder orange')
  .split(' ');

/** The same seed draws the same questions. With a higher count, the first ones stay the same. */
export function drawQuestions(options: {
  seed: number;
  count: number;
  modelId: string;
  /** Whether the service has tools. */
  hasTools: boolean;
}): CanaryQuestion[] {
  const { seed, count, modelId, hasTools } = options;
  const parse = createChatCompletionParser({ tools: hasTools });
  const { below } = createRandom(String(seed));
  const oneOf = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item;

  // Easy for the smallest models. What answers by repeating the task fails each of them.
  function drawSum() {
    const [one, other] = [11 + below(49), 11 + below(29)];
    const task = oneOf([
      `What is ${one} + ${other}?`,
      `How much is ${one} plus ${other}?`,
      `Please add ${one} and ${other}.`,
      `I had ${one} marbles and was given ${other} more. How many are that now?`,
      `A shop sold ${one} tickets on Monday and ${other} on Tuesday. How many in total?`,
    ]);
    return { task, expected: [String(one + other)], schema: { type: 'integer' } };
  }

  function drawReversal() {
    const left = [...WORDS];
    const words = Array.from({ length: 3 }, () => left.splice(below(left.length), 1)).flat();
    const list = words.join(', ');
    const task = oneOf([
      `Reverse the order of these words: ${list}.`,
      `Write these words in reverse order: ${list}.`,
      `List the following from last to first: ${list}.`,
      `Here are three words: ${list}. Repeat them backwards, the last word first.`,
    ]);
    const schema = { type: 'array', items: { type: 'string' } };
    return { task, expected: words.toReversed(), schema };
  }

  function drawName(): string {
    const [first, second] = [oneOf(WORDS), oneOf(WORDS)];
    return `${first}${second[0]?.toUpperCase()}${second.slice(1)}`;
  }

  /** The task does not say the name: only who keeps the schema has it. */
  function objectOf(schema: object) {
    const name = drawName();
    const properties = { [name]: schema };
    return { type: 'object', properties, required: [name], additionalProperties: false };
  }

  const formatOf = (schema: object) => ({
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'answer', strict: true, schema: objectOf(schema) },
    },
  });

  function toolOf(schema: object) {
    const name = drawName();
    const parameters = objectOf(schema);
    const description = 'Takes the answer.';
    return {
      tools: [{ type: 'function', function: { name, description, parameters } }],
      tool_choice: { type: 'function', function: { name } },
    };
  }

  return Array.from({ length: count }, (_, index) => {
    const { task, expected, schema } = index % 2 === 0 ? drawSum() : drawReversal();
    const request = parse({
      model: modelId,
      messages: [{ role: 'user', content: `${oneOf(OPENINGS)}${task}${oneOf(ENDINGS)}` }],
      max_tokens: oneOf(TOKEN_LIMITS),
      temperature: 0,
      seed: 1 + below(REQUEST_SEED_MAX),
      ...(index % FORMAT_EVERY === 1 && formatOf(schema)),
      ...(hasTools && index % FORMAT_EVERY === TOOL_OFFSET && toolOf(schema)),
    });
    return { request, expected };
  });
}

/** Whether the text contains the expected words, or the number, as whole words. */
export function isRight({ expected }: Pick<CanaryQuestion, 'expected'>, text: string): boolean {
  // A list may have its words numbered, and an "and" before its last.
  const words = expected.join('\\P{L}+(?:and\\P{L}+)?');
  const before = '(?<![\\p{L}\\p{N}]|\\p{N}[.,])';
  const after = '(?![\\p{L}\\p{N}]|[.,]\\p{N})';
  return new RegExp(`${before}${words}${after}`, 'iu').test(text);
}
