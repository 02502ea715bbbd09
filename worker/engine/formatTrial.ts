import { z } from 'zod';
import type { ChatRequest } from '../protocol/contracts.ts';
import type { Engine } from './engine.ts';

/** What a model would not say by itself: a server that passes the field over does not keep it. */
export const TRIAL_FORMAT = {
  type: 'json_schema',
  json_schema: {
    name: 'trial',
    strict: true,
    schema: {
      type: 'object',
      properties: { trials: { type: 'integer' } },
      required: ['trials'],
      additionalProperties: false,
    },
  },
};
const trialAnswer = z.strictObject({ trials: z.int() });

/** Room for the thoughts of a model before so short an answer. */
const TOKENS_MAX = 1_024;
const MS_MAX = 60_000;

/** Whether the model's server answers in the form of `response_format`. One that refuses it does not. */
export async function keepsFormat(
  engine: Engine,
  model: string,
  closing: AbortSignal,
): Promise<boolean> {
  const answer = await answerTrial(engine, { model, response_format: TRIAL_FORMAT }, closing);
  return trialAnswer.safeParse(answer?.text).success;
}

/**
 * Asks with these fields for an answer. Any failure means the same: the model is not offered with them.
 *
 * @returns the JSON of its text and of its first call's arguments, undefined where that is none
 */
export async function answerTrial(
  engine: Engine,
  fields: Omit<ChatRequest, 'messages'>,
  closing: AbortSignal,
): Promise<{ text: unknown; name: string; arguments: unknown } | undefined> {
  const chat = { messages: [{ role: 'user' as const, content: 'Hello' }], ...fields };
  const signal = AbortSignal.any([closing, AbortSignal.timeout(MS_MAX)]);
  const written = { text: '', name: '', arguments: '' };
  try {
    for await (const event of engine.generate(chat, { tokenLimit: TOKENS_MAX, signal })) {
      if (event.type === 'text') written.text += event.text;
      if (event.type !== 'call' || event.index > 0) continue;
      written.name += event.name ?? '';
      written.arguments += event.text;
    }
  } catch {
    return undefined;
  }
  const { name, text, arguments: json } = written;
  return { name, text: parseJson(text), arguments: parseJson(json) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
