import { parseChatCompletion } from '../../api/contracts/chatCompletion.ts';
import { chatForWorker } from '../../api/jobs/admission.ts';
import type { PassedField } from '../../common/workerProtocol.ts';
import { parseJson } from '../../programs/client/parseJson.ts';
import type { Random } from '../../testing/random.ts';

/** What the API makes of a body for a worker. @throws ApiError for a body that it refuses */
export const givenToWorker = (body: string) => chatForWorker(parseChatCompletion(parseJson(body)));

/** A body that the API takes: any of its fields, in any form that clients send. */
export function drawBody(random: Random): string {
  const body = {
    model: 'qwen3-8b',
    messages: Array.from({ length: 1 + random.below(4) }, () => drawMessage(random)),
    ...Object.fromEntries(
      Object.entries(FIELDS).flatMap(([field, values]) =>
        random.below(3) === 0 ? [[field, pick(random, values)]] : [],
      ),
    ),
  };
  // A field of this name is an object's own only as JSON.
  const text = JSON.stringify(body, null, random.below(2)).replaceAll('"proto"', '"__proto__"');
  return `${random.below(4) === 0 ? ' \n' : ''}${text}`;
}

const pick = <Item>(random: Random, items: readonly Item[]): Item =>
  items[random.below(items.length)] as Item;

const TEXTS = ['', 'Say hello.', ' é\u0301\r\n', '😀 "quoted" \\ \u2028', '\u0000\u001f\u007f'];

function drawMessage(random: Random): object {
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
type OtherField = 'stream' | 'max_tokens' | 'user' | 'tools' | 'n';

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
  n: [1],
};
