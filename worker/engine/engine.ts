import type { ChatRequest } from '../contracts.ts';

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
