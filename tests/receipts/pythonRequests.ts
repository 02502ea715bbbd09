import { parseChatCompletion } from '../../api/contracts/chatCompletion.ts';
import { chatForWorker } from '../../api/jobs/admission.ts';
import type { PassedField } from '../../common/workerProtocol.ts';
import { parseJson } from '../../programs/client/parseJson.ts';
import type { Json } from '../../programs/client/proof.ts';
import type { Random } from '../../testing/random.ts';
import { asResponses } from './responsesBody.ts';

/** What the API makes of a body for a worker. @throws ApiError for a body that it refuses */
export const givenToWorker = (body: string) => chatForWorker(parseChatCompletion(parseJson(body)));

/** A body, and what a worker is given of it. */
interface Asked {
  readonly body: string;
  readonly given: Readonly<Record<string, Json>>;
}

/**
 * A body that the API takes, with any of its fields in any form that clients send, and what the API
 * makes of it. To some, tools are added in such forms, and to what the worker is given as they are.
 */
export function drawAsked(random: Random): Asked {
  const { sent, given } = drawChat(random);
  if (random.below(2) === 0) return { body: spelled(random, sent), given };
  const { tools } = given;
  const kept = Array.isArray(tools) && { tools: tools.map(({ cache: _, ...tool }) => tool) };
  return { body: spelled(random, asResponses(random, sent)), given: { ...given, ...kept } };
}

function drawChat(random: Random): { sent: Body; given: Body } {
  const plain = drawPlain(random);
  const given = givenToWorker(asText(plain)) as Body;
  if (random.below(2) === 0) return { sent: plain, given };
  const { sent, kept } = drawTools(random);
  return { sent: joined(plain, sent), given: joined(given, kept) };
}

type Body = Readonly<Record<string, Json>> & { readonly messages: readonly Json[] };

const joined = (body: Body, more: Body): Body => ({
  ...body,
  ...more,
  messages: [...body.messages, ...more.messages],
});

const spelled = (random: Random, body: object): string =>
  `${random.below(4) === 0 ? ' \n' : ''}${asText(body, random.below(2))}`;

/** A field of this name is an object's own only as JSON. */
const asText = (body: object, indent = 0): string =>
  JSON.stringify(body, null, indent).replaceAll('"proto"', '"__proto__"');

function drawPlain(random: Random): Body {
  return {
    model: 'qwen3-8b',
    messages: Array.from({ length: 1 + random.below(4) }, () => drawMessage(random)),
    ...Object.fromEntries(
      Object.entries(FIELDS).flatMap(([field, values]) =>
        random.below(3) === 0 ? [[field, pick(random, values)]] : [],
      ),
    ),
  };
}

/** Tools, and messages with calls and a result, as they are sent and as a worker is given them. */
function drawTools(random: Random): { sent: Body; kept: Body } {
  const tools = Array.from({ length: 1 + random.below(3) }, (_, at) => ({
    type: 'function',
    ...pick(random, [{}, { cache: { proto: at } }]),
    function: {
      name: `tool_${at}`,
      ...pick(random, [{}, { description: pick(random, TEXTS) }]),
      ...pick(random, [{}, { strict: null }, { strict: true, note: [] }]),
      ...pick(random, [{}, { parameters: null }, { parameters: { properties: { proto: {} } } }]),
    },
  }));
  const calls = Array.from({ length: 1 + random.below(2) }, (_, at) => ({
    ...{ id: `call_${at}`, type: 'function' },
    function: { name: 'tool_0', arguments: pick(random, TEXTS) },
  }));
  const content = pick(random, TEXTS);
  const choice = pick(random, [
    ...['none', 'auto', 'required', null],
    { type: 'function', function: { name: 'tool_0', proto: 1 }, proto: 1 },
    { proto: 1 },
  ]);
  const parallel = pick(random, [true, false, null, [], {}]);
  const isChosen = typeof choice === 'string' || (choice && 'type' in choice);
  const kept = {
    messages: [
      { role: 'assistant', content, tool_calls: calls },
      { role: 'tool', content, tool_call_id: 'call_0' },
    ],
    tools,
    ...(isChosen && { tool_choice: withoutNames(choice) }),
    ...(typeof parallel === 'boolean' && { parallel_tool_calls: parallel }),
  };
  const nothing = pick(random, [{}, { content: null }, { content: [] }, { content }]);
  const parts = [{ type: 'text', text: content }];
  const sent = {
    messages: [
      {
        role: 'assistant',
        ...(content === '' ? nothing : { content: pick(random, [content, parts]) }),
        tool_calls: calls.map((call, index) => ({
          ...{ ...call, index, proto: 1 },
          function: { ...call.function, parsed: null },
        })),
      },
      { role: 'tool', content: parts, tool_call_id: 'call_0', name: 'tool_0' },
    ],
    tools: tools.map((tool) => withNames(random, tool)),
    ...{ tool_choice: choice, parallel_tool_calls: parallel },
  };
  return { sent: sent as unknown as Body, kept: parseJson(asText(kept)) as Body };
}

/** With names that the service drops. */
function withNames<Tool extends { function: { parameters?: object | null } }>(
  random: Random,
  tool: Tool,
): object {
  const name = () => pick(random, [{}, { proto: { a: 1 } }]);
  const { parameters, ...named } = tool.function;
  const schema = parameters && { parameters: { ...name(), ...parameters } };
  return { ...tool, ...name(), function: { ...name(), ...named, ...(schema ?? tool.function) } };
}

const withoutNames = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (name, held) => (name === 'proto' ? undefined : held)));

const pick = <Item>(random: Random, items: readonly Item[]): Item =>
  items[random.below(items.length)] as Item;

const TEXTS = ['', 'Say hello.', ' é\u0301\r\n', '😀 "quoted" \\ \u2028', '\u0000\u001f\u007f'];

function drawMessage(random: Random): Json {
  const parts = () =>
    Array.from({ length: random.below(3) }, () =>
      random.below(3) > 0
        ? { type: 'text', text: pick(random, TEXTS), cache_control: { type: 'ephemeral' } }
        : { type: 'refusal', refusal: pick(random, TEXTS) },
    );
  const content = random.below(2) === 0 ? pick(random, TEXTS) : parts();
  const assistant = pick(random, [
    { content },
    { content: null, refusal: 'No.' },
    { content: null },
    { refusal: null },
    { content: '', refusal: 'No.', tool_calls: [] },
  ]);
  return pick(random, [
    { role: 'user', content, name: 'ada' },
    { role: 'system', content },
    { role: 'developer', content },
    { role: 'assistant', ...assistant },
  ]);
}

const NOTHING = [null, [], {}];
const SCHEMA = { type: 'object', properties: { proto: { const: -0 } }, proto: { title: 'x' } };

/** Fields that no engine gets. */
type OtherField =
  | 'stream'
  | 'max_tokens'
  | 'user'
  | 'tools'
  | 'tool_choice'
  | 'parallel_tool_calls'
  | 'n';

/** Values of each field, those that mean nothing among them. */
const FIELDS: Readonly<Record<PassedField | OtherField, readonly unknown[]>> = {
  stream: [true, false, null],
  temperature: [0, 0.7, 2, 1e-7, null],
  top_p: [0.1, 1, null],
  frequency_penalty: [-2, 0.5, null],
  presence_penalty: [-0.5, null],
  seed: [0, -7, 2 ** 53 - 1, null],
  stop: ['END', ['a', 'b'], [], null],
  top_k: [-1, 40, ...NOTHING],
  min_p: [0.05, ...NOTHING],
  repetition_penalty: [1.1, ...NOTHING],
  reasoning_effort: ['low', 'none', ...NOTHING],
  logit_bias: [{ '15': -100, '7': 1.5 }, ...NOTHING],
  chat_template_kwargs: [
    { enable_thinking: false, ö: [1, { b: null, a: '\ud83d\ude00' }], proto: 1 },
    { proto: {} },
    ...NOTHING,
  ],
  response_format: [
    { type: 'text' },
    { type: 'json_object', proto: 2, more: {} },
    {
      type: 'json_schema',
      proto: 1,
      json_schema: { name: 'x', strict: null, schema: SCHEMA, proto: 3, description: 'd' },
    },
    { type: 'json_schema', json_schema: { name: 'y', schema: null } },
    ...NOTHING,
  ],
  max_tokens: [1, 500, null],
  user: ['somebody'],
  tools: [[], null],
  tool_choice: ['none', ...NOTHING],
  parallel_tool_calls: [true, 'x', ...NOTHING],
  n: [1],
};
