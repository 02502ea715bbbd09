import type { Json } from '../../../programs/client/proof.ts';
import { createRandom, type Random } from '../../../testing/random.ts';
import { asResponses } from '../responsesBody.ts';
import { drawPassedFields } from './draw.ts';

export type Body = Readonly<Record<string, Json>>;

const messagesOf = (body: Body) =>
  body.messages as readonly { readonly role: string; readonly content: string }[];

/** Other spellings of the same question: each has the same commitment. */
export const SAME_QUESTION: Readonly<Record<string, (body: Body) => Json>> = {
  'as it was sent': (body) => body,
  'with its fields in another order': (body) =>
    Object.fromEntries(Object.entries(body).toReversed()),
  'with what only concerns the service': (body) => ({
    ...body,
    ...{ stream: true, stream_options: { include_usage: true }, store: false, metadata: {} },
  }),
  'with developer in the place of system': (body) => ({
    ...body,
    messages: messagesOf(body).map((message) =>
      message.role === 'system' ? { ...message, role: 'developer' } : message,
    ),
  }),
  'with its texts in parts': (body) => ({
    ...body,
    messages: messagesOf(body).map(({ content, ...message }) => ({
      ...message,
      content: [...(content.match(/.{1,9}/gsu) ?? [])].map((text) => ({ type: 'text', text })),
    })),
  }),
  'with its limit by the other name': ({ max_tokens, ...body }) => ({
    ...body,
    ...(max_tokens !== undefined && { max_completion_tokens: max_tokens }),
  }),
  'with a ceiling above the lock': (body) => ({ ...body, max_credits: 1_000_000_000 }),
  'with nulls where nothing is set': (body) => ({
    ...Object.fromEntries(NULLABLE.map((field) => [field, null])),
    ...body,
  }),
  'with empty lists and objects where nothing is set': (body) => ({
    ...{ logit_bias: {}, stop: [], response_format: { type: 'text' } },
    ...body,
  }),
  'as a body of responses': (body) => asResponses(createRandom(1), body),
};

const NULLABLE = [
  ...['temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'seed', 'stop'],
  ...['response_format', 'reasoning_effort', 'logit_bias', 'max_completion_tokens'],
];

/** Other questions, by what somebody changed: each fails. */
export function otherQuestions(
  random: Random,
  { body, lockedCredits }: { body: Body; lockedCredits: number },
): Readonly<Record<string, Json>> {
  const messages = messagesOf(body);
  const [first, ...rest] = messages as [(typeof messages)[number], ...typeof messages];
  const fields = drawPassedFields(random);
  return {
    'another message': {
      ...body,
      messages: [...messages.slice(0, -1), { role: 'user', content: '?' }],
    },
    'a space more in a message': {
      ...body,
      messages: [{ ...first, content: `${first.content} ` }, ...rest],
    },
    'another role': { ...body, messages: [{ ...first, role: 'user' }, ...rest] },
    'another model': { ...body, model: 'llama-3.2-3b-instruct' },
    'another order of messages': { ...body, messages: [...rest, first] },
    'a lower token limit': { ...body, max_tokens: Number(body.max_tokens) - 1 },
    'a higher token limit': { ...body, max_tokens: Number(body.max_tokens) + 1 },
    'a lower ceiling': { ...body, max_credits: lockedCredits - 1 },
    'a message less': { ...body, messages: rest },
    'a message more': { ...body, messages: [...messages, first] },
    ...Object.fromEntries(
      Object.entries(fields).map(([field, value]) => [
        `another ${field}`,
        field in body ? without(body, field) : { ...body, [field]: value },
      ]),
    ),
  };
}

const without = (body: Body, field: string): Body =>
  Object.fromEntries(Object.entries(body).filter(([name]) => name !== field));
