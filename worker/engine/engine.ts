import type { FinishReason } from '../../common/workerProtocol.ts';
import type { ChatRequest } from '../protocol/contracts.ts';

/** Tokens by the engine's own tokenizer; undefined where the engine does not report them. */
export interface Usage {
  promptTokens?: number | undefined;
  /** Includes the reasoning's tokens. */
  completionTokens?: number | undefined;
  reasoningTokens?: number | undefined;
}

/**
 * A piece of the answer or of the reasoning before it, never empty, or a sign that the model works
 * without either. The last event is one `end`, unless the engine throws.
 *
 * Calls are numbered from 0 on. The first piece of each has its id and name; its text is of the
 * arguments, and may be empty there alone.
 */
export type EngineEvent =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'call'; index: number; id?: string; name?: string; text: string }
  | { type: 'alive' }
  | { type: 'end'; finishReason: FinishReason; usage?: Usage };

/** Generates text for a conversation. */
export interface Engine {
  readonly kind: 'builtin' | 'upstream';
  /**
   * A cheap request that shows whether the engine is there; absent for one that always is.
   *
   * @throws WorkerError `upstream_failed` with the reason
   */
  check?(): Promise<void>;
  /**
   * Generates one answer of at most `tokenLimit` tokens.
   *
   * Only `end` means that the answer is complete; a connection that breaks off throws.
   *
   * @throws WorkerError `upstream_failed`, `context_length_exceeded`, or `no_free_slot` while the
   *   upstream is busy
   * @throws the signal's reason once it aborts, unless all text has arrived
   */
  generate(
    chat: ChatRequest,
    limits: { tokenLimit: number; signal: AbortSignal },
  ): AsyncIterable<EngineEvent>;
}

/**
 * Finds stop sequences in a streamed text. A stop sequence itself is never sent, so text that may
 * begin one is held back until the next token decides.
 */
export function createStopScanner(stop: string | string[] | undefined) {
  const sequences = [stop ?? []].flat();
  let held = '';
  return {
    /** @returns the text to send after a token, whether a stop sequence was found, and what follows it */
    add(token: string): { text: string; isStopped: boolean; rest: string } {
      held += token;
      const [first] = sequences
        .map((sequence) => ({ at: held.indexOf(sequence), length: sequence.length }))
        .filter(({ at }) => at >= 0)
        .sort((one, other) => one.at - other.at || other.length - one.length);
      if (first) {
        const text = held.slice(0, first.at);
        const rest = held.slice(first.at + first.length);
        held = '';
        return { text, isStopped: true, rest };
      }
      const kept = Math.max(0, ...sequences.map((sequence) => overlap(held, sequence)));
      const text = held.slice(0, held.length - kept);
      held = held.slice(text.length);
      return { text, isStopped: false, rest: '' };
    },
    /** @returns the text that was held back, after the last token */
    flush: (): string => held,
  };
}

/** The length of the longest suffix of `text` that is a prefix of `sequence`. */
function overlap(text: string, sequence: string): number {
  for (let length = Math.min(text.length, sequence.length - 1); length > 0; length -= 1) {
    if (text.endsWith(sequence.slice(0, length))) return length;
  }
  return 0;
}
