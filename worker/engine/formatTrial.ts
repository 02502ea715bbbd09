import { z } from 'zod';
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
  const chat = {
    model,
    messages: [{ role: 'user' as const, content: 'Hello' }],
    response_format: TRIAL_FORMAT,
  };
  const signal = AbortSignal.any([closing, AbortSignal.timeout(MS_MAX)]);
  let text = '';
  try {
    for await (const event of engine.generate(chat, { tokenLimit: TOKENS_MAX, signal })) {
      if (event.type === 'text') text += event.text;
    }
    return trialAnswer.safeParse(JSON.parse(text)).success;
  } catch {
    // Any failure means the same: the model is not offered with this field.
    return false;
  }
}
