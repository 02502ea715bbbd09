import { Keypair } from '@solana/web3.js';
import type { PassedField } from '../../../common/workerProtocol.ts';
import type { Json } from '../../../programs/client/proof.ts';
import type { Random } from '../../../testing/random.ts';

/** As the API makes it of a client's request, with the token limit that was locked. */
export interface CommittedRequest {
  readonly [field: string]: Json;
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly token_limit: number;
}

const CHARACTERS = [...'aZ7 \n"\\\té', 'e\u0301', ...'€字😀\u2028'];
const WORDS = 'why is the sky blue write a poem of Zürich 天気 🙂'.split(' ');

const pick = <Item>(random: Random, items: readonly Item[]): Item =>
  items[random.below(items.length)] as Item;

/** Any characters, such as need an escape. */
export const drawText = (random: Random, length = 12): string =>
  Array.from({ length: random.below(length) }, () => pick(random, CHARACTERS)).join('');

/** Words, as people write them. */
export const drawWords = (random: Random, most = 9): string =>
  Array.from({ length: 1 + random.below(most) }, () => pick(random, WORDS)).join(' ');

/** A value for each field that an engine gets. */
export const drawPassedFields = (random: Random): Record<PassedField, Json> => ({
  temperature: random.below(200) / 100,
  top_p: (1 + random.below(100)) / 100,
  top_k: 1 + random.below(100),
  min_p: random.below(100) / 100,
  frequency_penalty: (random.below(400) - 200) / 100,
  presence_penalty: (random.below(400) - 200) / 100,
  repetition_penalty: (1 + random.below(200)) / 100,
  logit_bias: { [random.below(50_000)]: random.below(200) - 100 },
  seed: random.below(2 ** 32),
  stop: [drawWords(random, 2), '\n\n'],
  response_format: { type: 'json_object' },
  reasoning_effort: pick(random, ['low', 'medium', 'high']),
  chat_template_kwargs: { enable_thinking: random.below(2) === 0, note: drawText(random) },
});

/** With some of the fields that an engine gets, in any order. */
export function drawRequest(random: Random): CommittedRequest {
  const fields = Object.entries(drawPassedFields(random)).filter(() => random.below(3) === 0);
  return {
    ...Object.fromEntries(shuffle(random, fields)),
    model: 'qwen2.5-7b-instruct',
    messages: [
      { role: 'system', content: drawWords(random) },
      ...Array.from({ length: 1 + random.below(3) }, (_, at) => ({
        role: at % 2 === 0 ? 'user' : 'assistant',
        content: `${drawWords(random)}${drawText(random)}`,
      })),
    ],
    token_limit: 1 + random.below(8_000),
  };
}

function shuffle<Item>(random: Random, items: readonly Item[]): Item[] {
  const left = [...items];
  return items.map(() => left.splice(random.below(left.length), 1)[0] as Item);
}

/** JSON of the value in one of its spellings: with spaces, and fields in any order. */
export function spell(random: Random, value: Json): string {
  const space = () => pick(random, ['', '', ' ', '\n']);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) {
    return `[${value.map((item) => `${space()}${spell(random, item as Json)}`).join(',')}]`;
  }
  const fields = shuffle(random, Object.entries(value)).map(
    ([name, item]) => `${space()}${JSON.stringify(name)}:${space()}${spell(random, item as Json)}`,
  );
  return `{${fields.join(',')}${space()}}`;
}

export const drawKeypair = (random: Random): Keypair => Keypair.fromSeed(random.bytes(32));
