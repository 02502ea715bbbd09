import type { ConsoleModel } from '../../../api/contracts/index.ts';
import { freeTokenLimit, lockCredits, type Price } from '../../../programs/client/pricing.ts';
import type { CompletionRequest } from '../../data/samples.ts';
import { messagesOf, type Spoken } from './conversation.ts';
import { readTools, type ToolSettings } from './tools.ts';

/** How the model is asked, as it was entered. */
export interface Settings extends ToolSettings {
  readonly model: string;
  readonly tokens: string;
  readonly system: string;
  readonly temperature: string;
  readonly topP: string;
  readonly seed: string;
  /** One stop sequence a line. */
  readonly stop: string;
}

export const FIRST_SETTINGS: Settings = {
  model: '',
  tokens: '256',
  system: '',
  temperature: '',
  topP: '',
  seed: '',
  stop: '',
  tools: '',
  toolChoice: '',
};

type Options = Omit<CompletionRequest, 'model' | 'stream' | 'messages' | 'max_credits'>;
type Wrong = { readonly [Name in keyof Settings]?: string };

const TOKENS = /^[1-9]\d{0,6}$/;
const SAMPLING = /^\d(?:\.\d{1,4})?$/;
const SEED = /^-?\d{1,16}$/;
const STOPS_MAX = 16;
const STOP_CHARACTERS_MAX = 256;

/** What the settings add to a request, or a sentence at each field that cannot be sent. */
export function readSettings(
  settings: Settings,
  { hasTools }: { readonly hasTools: boolean },
): {
  readonly options: Options;
  readonly wrong: Wrong;
} {
  const tokens = settings.tokens.trim();
  const seed = settings.seed.trim();
  const stop = readStops(settings.stop);
  const temperature = readSampling(settings.temperature, 2);
  const topP = readSampling(settings.topP, 1);
  const tools = hasTools ? readTools(settings) : {};
  const isSeed = SEED.test(seed) && Number.isSafeInteger(Number(seed));
  const isStop =
    stop.length <= STOPS_MAX && stop.every((one) => [...one].length <= STOP_CHARACTERS_MAX);
  return {
    // In the order of the request's fields.
    options: {
      ...(tokens && { max_tokens: Number(tokens) }),
      ...(seed && { seed: Number(seed) }),
      ...(stop.length > 0 && { stop }),
      ...(temperature !== undefined && { temperature }),
      ...tools.options,
      ...(topP !== undefined && { top_p: topP }),
    },
    wrong: {
      ...(tokens && !TOKENS.test(tokens) && { tokens: 'A whole number, at least 1.' }),
      ...(seed && !isSeed && { seed: 'A whole number of at most 15 digits.' }),
      ...(!isStop && { stop: `At most ${STOPS_MAX}, of ${STOP_CHARACTERS_MAX} characters each.` }),
      ...(Number.isNaN(temperature) && { temperature: 'A number from 0 to 2.' }),
      ...(tools.wrong && { tools: tools.wrong }),
      ...(Number.isNaN(topP) && { topP: 'A number from 0 to 1.' }),
    },
  };
}

/** @returns undefined for none, NaN for what is none */
function readSampling(text: string, most: number): number | undefined {
  const given = text.trim();
  if (given === '') return undefined;
  return SAMPLING.test(given) && Number(given) <= most ? Number(given) : Number.NaN;
}

const ESCAPES: Readonly<Record<string, string>> = { '\\n': '\n', '\\t': '\t', '\\\\': '\\' };

function readStops(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replaceAll(/\\[nt\\]/g, (written) => ESCAPES[written] ?? written));
}

/**
 * The request that asks this behind these turns.
 *
 * @param ceiling.maxCredits the price that was shown: the service locks no more
 */
export function requestOf(
  { prompt, before }: Pick<Spoken, 'prompt'> & { readonly before: readonly Spoken[] },
  { model, system, options }: { readonly model: string; system: string; options: Options },
  ceiling: { readonly maxCredits: bigint | undefined },
): CompletionRequest {
  return {
    model,
    stream: true,
    messages: [
      ...(system.trim() ? [{ role: 'system', content: system }] : []),
      ...messagesOf(before),
      ...(prompt === null ? [] : [{ role: 'user', content: prompt }]),
    ],
    ...(prompt === null ? freeOptions(options) : options),
    ...(ceiling.maxCredits !== undefined && { max_credits: Number(ceiling.maxCredits) }),
  };
}

/** Behind results, a choice that forces a call would have it made again, without an end. */
function freeOptions(options: Options): Options {
  const { tool_choice: choice, ...rest } = options;
  return choice === 'none' || choice === 'auto' ? options : rest;
}

/** A model's price as the client computes with it. */
export function priceOf({ svc }: Pick<ConsoleModel, 'svc'>): Price {
  return {
    creditsPerRequest: svc.credits_per_request,
    creditsPer1kTokens: svc.credits_per_1k_tokens,
    longCompletionThresholdTokens: svc.long_completion_threshold,
  };
}

/** What a request with this limit costs at most. A long conversation may leave it less room. */
export function boundsOf(price: Price, tokens: number | undefined) {
  const tokenLimit = tokens ?? freeTokenLimit(price);
  return { price, tokenLimit, locked: lockCredits(price, tokenLimit) };
}
