import { estimateTokens } from './tokenCounts.ts';

/**
 * How long a model may be silent, as API and worker both judge it. Times are milliseconds.
 *
 * Silence within these limits is no fault. One that outlasts them is the worker's.
 */

/** Without text, reasoning or another sign of life. */
export const IDLE_MS = 20_000;

/** An answer that the time limit cuts off is paid only where text came within that time before. */
export const TEXT_AGE_MS_MAX = 20_000;

/** A second for each 500 tokens of a prompt. */
const READING_MS_PER_TOKEN = 2;
/** After it another worker still has 25 s, until answers are cut off 105 s after their lock. */
const FIRST_SILENCE_MS_MAX = 80_000;
/** More text than the longest limit needs, in any language; it takes some milliseconds to weigh. */
const CHARACTERS_WEIGHED_MAX = 262_144;

/**
 * How long a model may be silent before its first text: it reads the prompt meanwhile, and many
 * servers say nothing then. The text alone decides, whatever tokenizer is at hand, so that API and
 * worker come to the same time.
 */
export function firstSilenceMs(messages: readonly { content: string }[]): number {
  let tokens = 0;
  let charactersLeft = CHARACTERS_WEIGHED_MAX;
  for (const { content } of messages) {
    tokens += estimateTokens(content.slice(0, charactersLeft));
    charactersLeft = Math.max(0, charactersLeft - content.length);
  }
  return Math.min(IDLE_MS + tokens * READING_MS_PER_TOKEN, FIRST_SILENCE_MS_MAX);
}

/**
 * When a silence is too long. A sign of life before the first text never shortens the time to read.
 *
 * @param since.begunAtMs when the model was asked
 * @param since.aliveAtMs when it last gave a sign of life
 * @param firstMs what `firstSilenceMs` says; undefined once there was text or reasoning
 */
export function silentAtMs(
  since: { begunAtMs: number; aliveAtMs: number },
  firstMs: number | undefined,
): number {
  return Math.max(since.aliveAtMs + IDLE_MS, since.begunAtMs + (firstMs ?? 0));
}
