import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Engine } from './engine.ts';
import { answerTrial, keepsFormat } from './formatTrial.ts';

/** Names of the trial's tools begin so. */
export const TRIAL_TOOL = 'trial_';

/**
 * Whether the model's server calls a tool that it is forced to. Name and argument are drawn, so no
 * model says them by itself.
 */
async function callsTools(engine: Engine, model: string, closing: AbortSignal): Promise<boolean> {
  const drawn = randomBytes(4).toString('hex');
  const [name, argument] = [`${TRIAL_TOOL}${drawn}`, `value_${drawn}`];
  const parameters = {
    type: 'object',
    properties: { [argument]: { type: 'integer' } },
    required: [argument],
    additionalProperties: false,
  };
  const fields = {
    tools: [{ type: 'function' as const, function: { name, parameters } }],
    tool_choice: { type: 'function' as const, function: { name } },
  };
  const answer = await answerTrial(engine, { model, ...fields }, closing);
  const isRight = z.strictObject({ [argument]: z.int() }).safeParse(answer?.arguments).success;
  return isRight && answer?.name === name;
}

/** The trials of fields that a server may pass over, by the field. */
export const FIELD_TRIALS = { response_format: keepsFormat, tools: callsTools };

export type TriedField = keyof typeof FIELD_TRIALS;

export const TRIED_FIELDS = Object.keys(FIELD_TRIALS) as TriedField[];
