import type { UnprovenResult } from './attempt.ts';

// Who bears an answer without text: its worker or its wallet. docs/routing.md has the whole rule.

/** The fields that can end an answer before its first text, with the values at which they cannot. */
const EMPTYING_FIELDS: Readonly<Record<string, number | undefined>> = {
  stop: undefined,
  logit_bias: undefined,
  response_format: undefined,
  chat_template_kwargs: undefined,
  tools: undefined,
  frequency_penalty: 0,
  presence_penalty: 0,
  repetition_penalty: 1,
};

/** So few tokens may all be without text: an end, a tag, half a character. */
const TEXTLESS_TOKENS_MAX = 16;
/** A model that thinks seldom answers within so few. */
const THOUGHT_TOKENS_MAX = 256;

/** Whether a request alone can be why its answer has no text: then that blames no worker. */
export function canEmpty(chat: Record<string, unknown>, tokenLimit: number): boolean {
  const isEmptying = ([field, neutral]: [string, unknown]): boolean =>
    chat[field] !== undefined && chat[field] !== neutral;
  return tokenLimit <= TEXTLESS_TOKENS_MAX || Object.entries(EMPTYING_FIELDS).some(isEmptying);
}

/** Whether a request alone can be why a server is silent: some schemas take minutes to compile. */
export function canSilence(chat: Record<string, unknown>): boolean {
  return chat.response_format !== undefined;
}

/**
 * Why a job failed whose model thought until its token limit. Its client chose a small one, and
 * `empty_output` counts against the wallet. A larger one counts for neither side: such an answer is
 * an honest client's lot, and a worker could have any wallet suspended by it.
 */
export function reasonOfUsedLimit(tokenLimit: number): 'empty_output' | 'worker_error' {
  return tokenLimit <= THOUGHT_TOKENS_MAX ? 'empty_output' : 'worker_error';
}

/** Whether no worker had any text for a request with stop sequences, and none called a tool amiss. */
export function isStopped(result: UnprovenResult, { stop }: Record<string, unknown>): boolean {
  if (result.kind !== 'failed' || result.busy || result.cause === 'upstream_failed') return false;
  return result.reason === 'empty_output' && stop !== undefined;
}
