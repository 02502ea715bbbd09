import type { Logger } from '../logger.ts';
import { openTokenizers, PROMPT_BYTES_MAX, type Tokenizers } from './tokenizers.ts';

/**
 * Token counts of texts whose model has no tokenizer at hand.
 *
 * Both are bounds chosen in the client's favour where money follows from them: a prompt is never
 * refused for being larger than it is, and a worker's count is never accepted above what the
 * delivered text can hold.
 */

/** Common tokenizers average four bytes a token and seldom reach eight over a whole prompt. */
const PROMPT_BYTES_PER_TOKEN = 8;

/** The least number of tokens a conversation is taken for. */
export function estimatePromptTokens(messages: readonly { content: string }[]): number {
  const bytes = messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  return Math.ceil(bytes / PROMPT_BYTES_PER_TOKEN);
}

/** The largest number of tokens a text can hold: every token yields at least one byte. */
function estimateOutputTokens(text: string): number {
  return Buffer.byteLength(text);
}

/** Counts tokens as a model does, or within the bounds of `common/tokenizers/tokenCounts.ts` where it cannot. */
export interface TokenCounts {
  /** The least number of tokens that a conversation holds for this model. */
  prompt(modelId: string, messages: readonly Message[]): Promise<number>;
  /** The largest number of tokens that a worker may have needed for this text. */
  output(modelId: string, text: string): Promise<number>;
}

interface Message {
  role: string;
  content: string;
}

/** The token that ends an answer: engines count it, and no text comes of it. */
const END_TOKENS = 1;

const encoder = new TextEncoder();

/**
 * @param options.folder holds `<model id>.json` for each model that is to be counted exactly, in
 *   the form of Hugging Face's `tokenizer.json`; none: all models are estimated
 * @throws ConfigError when a file in it is no tokenizer
 */
export async function createTokenCounts(options: {
  folder: string | undefined;
  logger: Logger;
}): Promise<TokenCounts & { close(): Promise<void> }> {
  const { folder, logger } = options;
  const tokenizers = folder === undefined ? undefined : await openTokenizers({ folder, logger });
  return { ...countWith(tokenizers?.count), close: async () => tokenizers?.close() };
}

/** @param count undefined, or coming to undefined, where the estimate has to do */
export function countWith(count: Tokenizers['count'] | undefined): TokenCounts {
  return {
    async prompt(modelId, messages) {
      const texts = beginningOf(messages.map(leastText));
      const counted = await count?.({ modelId, texts, kind: 'prompt' });
      return counted ?? estimatePromptTokens(messages);
    },
    async output(modelId, text) {
      const counted = await count?.({ modelId, texts: [text], kind: 'answer' });
      const bound = estimateOutputTokens(text);
      return counted === undefined ? bound : Math.min(counted + END_TOKENS, bound);
    },
  };
}

/**
 * What every chat template keeps of a message: some trim it, some drop the reasoning of an earlier
 * answer. What a template adds is not counted either: nothing is refused that would have fitted.
 */
function leastText({ role, content }: Message): string {
  const kept = role === 'assistant' ? content.split('</think>').at(-1) : content;
  return kept?.trim() ?? '';
}

/**
 * As much of a conversation as is counted. The whole has no fewer tokens than its beginning, while
 * an estimate by bytes may refuse a long text of long tokens that would have fitted.
 */
function beginningOf(texts: readonly string[]): string[] {
  let room = new Uint8Array(PROMPT_BYTES_MAX);
  return texts.map((text) => {
    const { read, written } = encoder.encodeInto(text, room);
    room = room.subarray(written);
    return text.slice(0, read);
  });
}
