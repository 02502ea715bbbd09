import { describe, expect, it } from '@jest/globals';
import {
  boundTokens,
  estimateTokens,
  firstSilenceMs,
  silentAtMs,
} from '../../common/tokenizers/tokenCounts.ts';
import { createRandom } from '../../testing/random.ts';

const random = createRandom();

// The least and the greatest counts by the tokenizers of docs/token-counts.md.
const texts: [string, string, number, number][] = [
  ['English', 'The quick brown fox jumps over the lazy dog. '.repeat(10), 101, 101],
  [
    'code',
    'for (let i = 0; i < rows.length; i += 1) total += rows[i].price;\n'.repeat(10),
    220,
    290,
  ],
  ['digits', '3141592653589793238462643383279502884197'.repeat(5), 67, 200],
  ['Chinese', '服务按实际生成的词元数量收费，未使用的积分会立即退还。'.repeat(5), 80, 110],
  ['emoji', '😀🎉🚀🔥👍'.repeat(10), 50, 140],
];

describe('the bound of the tokens of a text', () => {
  it.each(texts)(
    'is at least any tokenizer’s count, and below five times the least: %s',
    (_kind, text, least, most) => {
      expect(boundTokens(text)).toBeGreaterThanOrEqual(most);
      expect(boundTokens(text)).toBeLessThan(5 * least);
    },
  );

  it('is never above the number of bytes', () => {
    expect(boundTokens('')).toBe(0);
    expect(boundTokens('é')).toBe(2);
  });

  it(`never falls when a text goes on (seed ${random.seed})`, () => {
    const characters = [...'aZ09 \n\t._é中ж😀'];
    let text = '';
    let last = 0;
    for (let length = 0; length < 500; length += 1) {
      text += characters[random.below(characters.length)] ?? '';
      const bound = boundTokens(text);
      expect(bound).toBeGreaterThanOrEqual(last);
      last = bound;
    }
  });
});

describe('the estimate of the tokens of a text', () => {
  it.each(texts)('lies between half the least count and the bound: %s', (_kind, text, least) => {
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(least / 2);
    expect(estimateTokens(text)).toBeLessThanOrEqual(boundTokens(text));
  });
});

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
