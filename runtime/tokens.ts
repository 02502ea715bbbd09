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
export function estimateOutputTokens(text: string): number {
  return Buffer.byteLength(text);
}
