import type { ChatRequest } from '../protocol/contracts.ts';

/** Tokens as the engine's own tokenizer counted them. */
export interface Usage {
  promptTokens: number;
  completionTokens: number;
}

export type FinishReason = 'stop' | 'length' | 'content_filter';

/** A piece of the answer, never empty; after all of them one `end`, unless the engine throws. */
export type EngineEvent =
  | { type: 'text'; text: string }
  | { type: 'end'; finishReason: FinishReason; usage?: Usage };

/** What turns a conversation into text. */
export interface Engine {
  readonly kind: 'builtin' | 'upstream';
  /**
   * Generates one answer of at most `tokenLimit` tokens.
   *
   * An answer that merely stops arriving throws; only `end` means that it is complete.
   *
   * @throws WorkerError `upstream_failed`, `context_length_exceeded`, or `no_free_slot` while the
   *   upstream is busy
   * @throws the signal's reason once it aborts, unless all of the text was there
   */
  generate(
    chat: ChatRequest,
    limits: { tokenLimit: number; signal: AbortSignal },
  ): AsyncIterable<EngineEvent>;
}

/** What may be sent after a token, and whether a stop sequence was met. */
interface StopScan {
  text: string;
  isStopped: boolean;
}

/**
 * Watches a text that comes in pieces for sequences that end it. A stop sequence itself is never
 * sent, so text that may be the beginning of one is held back until that is decided.
 */
export function createStopScanner(stop: string | string[] | undefined): {
  add(token: string): StopScan;
  /** What was held back when the text ends by itself. */
  flush(): string;
} {
  const sequences = [stop ?? []].flat();
  let held = '';
  return {
    add(token) {
      held += token;
      const found = sequences.map((sequence) => held.indexOf(sequence)).filter((at) => at >= 0);
      if (found.length > 0) {
        const text = held.slice(0, Math.min(...found));
        held = '';
        return { text, isStopped: true };
      }
      const kept = Math.max(0, ...sequences.map((sequence) => overlap(held, sequence)));
      const text = held.slice(0, held.length - kept);
      held = held.slice(text.length);
      return { text, isStopped: false };
    },
    flush: () => held,
  };
}

/** The length of the longest end of `text` that `sequence` begins with. */
function overlap(text: string, sequence: string): number {
  for (let length = Math.min(text.length, sequence.length - 1); length > 0; length -= 1) {
    if (text.endsWith(sequence.slice(0, length))) return length;
  }
  return 0;
}
