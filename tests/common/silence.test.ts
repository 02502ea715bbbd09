import { describe, expect, it } from '@jest/globals';
import { firstSilenceMs, silentAtMs } from '../../common/tokenizers/tokenCounts.ts';

const say = (...contents: string[]) => contents.map((content) => ({ content }));
const words = (count: number) => 'word '.repeat(count);

describe('the time to read a prompt', () => {
  it('is 20 s, with a second for each 500 tokens, and 80 s at most', () => {
    expect(firstSilenceMs([])).toBe(20_000);
    // A word may be a little more than a token.
    expect(firstSilenceMs(say(words(5_000)))).toBeGreaterThanOrEqual(30_000);
    expect(firstSilenceMs(say(words(5_000)))).toBeLessThan(32_000);
    expect(firstSilenceMs(say(words(12_000)))).toBeGreaterThanOrEqual(44_000);
    expect(firstSilenceMs(say(words(12_000)))).toBeLessThan(48_000);
    expect(firstSilenceMs(say(words(30_000)))).toBe(80_000);
    expect(firstSilenceMs(say(words(800_000)))).toBe(80_000);
  });

  it('counts all messages, in any language', () => {
    const inOne = firstSilenceMs(say(words(4_000)));
    const inFour = firstSilenceMs(say(...Array<string>(4).fill(words(1_000))));
    expect(Math.abs(inFour - inOne)).toBeLessThan(100);
    // Eight bytes for a token, as a prompt's least count has it, would make it a fifth of that.
    expect(firstSilenceMs(say('春眠不觉晓'.repeat(2_000)))).toBeGreaterThan(32_000);
  });
});

describe('a silence', () => {
  it('is too long after 20 s, or before text once the prompt can be read', () => {
    expect(silentAtMs({ begunAtMs: 0, aliveAtMs: 5_000 }, undefined)).toBe(25_000);
    expect(silentAtMs({ begunAtMs: 0, aliveAtMs: 5_000 }, 44_000)).toBe(44_000);
    expect(silentAtMs({ begunAtMs: 0, aliveAtMs: 30_000 }, 44_000)).toBe(50_000);
  });
});
