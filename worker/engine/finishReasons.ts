import type { FinishReason } from '../../common/workerProtocol.ts';
import { WorkerError } from '../protocol/errors.ts';

/**
 * How model servers spell the end of an answer, in lower case. What stands nowhere here is no end of
 * an answer: half a text must never pass for a whole one.
 */
const SPELLINGS: Readonly<Record<FinishReason, readonly string[]>> = {
  stop: ['stop', 'eos', 'eos_token', 'end_turn', 'stop_sequence', 'complete'],
  length: [
    ...['length', 'max_tokens', 'max_output_tokens', 'model_length', 'token_limit'],
    'model_context_window_exceeded',
  ],
  content_filter: [
    ...['content_filter', 'safety', 'sensitive', 'refusal', 'recitation'],
    ...['prohibited_content', 'blocklist', 'spii'],
  ],
  tool_calls: ['tool_calls', 'function_call', 'tool_use', 'tool_call'],
};

const REASONS = new Map(
  Object.entries(SPELLINGS).flatMap(([reason, words]) =>
    words.map((word) => [word, reason as FinishReason] as const),
  ),
);
/** A word, which may stand in an error: no prompt and no answer. */
const WORD = /^\w{1,40}$/;

/**
 * A whole answer with calls ends for them, whichever word its server has. Without calls, a word for them
 * ends a text.
 *
 * @param word a server's own, in any case
 * @param answer what it has until then; calls count only where tools were asked
 * @throws WorkerError `upstream_failed` for a word that does not say that the answer is whole, cut or filtered
 */
export function readFinishReason(
  word: string,
  { hasText, hasCalls }: { hasText: boolean; hasCalls: boolean },
): FinishReason {
  const lower = word.trim().toLowerCase();
  const reason = REASONS.get(lower);
  if (reason === 'stop' && hasCalls) return 'tool_calls';
  if (reason === 'tool_calls' && !hasCalls) {
    if (hasText) return 'stop';
    throw new WorkerError('upstream_failed', 'The upstream called a tool in place of an answer');
  }
  if (reason !== undefined) return reason;
  const shown = WORD.test(lower) ? ` ${lower}` : '';
  throw new WorkerError('upstream_failed', `The upstream broke its answer off:${shown}`);
}
