import { describe, expect, it } from '@jest/globals';
import {
  countOf,
  formatAgo,
  formatAhead,
  formatCompact,
  formatCount,
  formatMinute,
  formatMs,
  formatTime,
} from '../../console/design/formats.ts';
import { indentJson } from '../../console/design/indentJson.ts';
import { deviceOf } from '../../console/pages/settings/device.ts';
import { createRandom } from '../../testing/random.ts';

const random = createRandom();

describe(`numbers and times in the pages (seed ${random.seed})`, () => {
  it('are counts with commas, as Intl writes them, of any size', () => {
    const words = new Intl.NumberFormat('en-US');
    for (let digits = 1; digits <= 20; digits += 1) {
      const count = BigInt(Array.from({ length: digits }, () => random.below(10)).join(''));
      for (const value of [count, -count]) expect(formatCount(value)).toBe(words.format(value));
      if (digits < 16) expect(formatCount(Number(count))).toBe(words.format(Number(count)));
    }
  });

  it('name one thing or several', () => {
    expect([0, 1, 1_200].map((count) => countOf(count, 'job'))).toEqual([
      ...['0 jobs', '1 job', '1,200 jobs'],
    ]);
  });

  it.each([
    [0, '0'],
    [999, '999'],
    [1_000, '1K'],
    [12_345, '12.3K'],
    [1_250_000, '1.3M'],
    [3e9, '3B'],
  ])('%d is %s on an axis', (value, text) => {
    expect(formatCompact(value)).toBe(text);
  });

  it.each([
    [-5_000, 'now'],
    [999, 'now'],
    [1_000, '1s ago'],
    [59_999, '59s ago'],
    [60_000, '1m ago'],
    [7_199_999, '1h ago'],
    [172_800_000, '2d ago'],
  ])('%d ms are %s', (ms, text) => {
    expect(formatAgo(ms)).toBe(text);
  });

  it('are ahead by the same units', () => {
    expect([-1, 59_999, 7_200_000].map(formatAhead)).toEqual(['now', 'in 59s', 'in 2h']);
  });

  it('are times of UTC, to the second or the minute', () => {
    expect(formatTime('2026-09-05T08:04:09.999Z')).toBe('2026-09-05 08:04:09 UTC');
    expect(formatTime('2026-09-05T01:04:09+02:00')).toBe('2026-09-04 23:04:09 UTC');
    expect(formatMinute('2026-09-05T08:04:09Z')).toBe('2026-09-05 08:04');
  });

  it.each([
    [null, '–'],
    [0.4, '0 ms'],
    [1_234.6, '1,235 ms'],
    [9_999, '9,999 ms'],
    [61_250, '61.3 s'],
  ])('%p are %s as a length', (ms, text) => {
    expect(formatMs(ms)).toBe(text);
  });
});

describe('the device of a session', () => {
  const mobile = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15';
  const desktop =
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)';
  it.each([
    [`${desktop} Chrome/150.0.0.0 Safari/537.36`, 'Chrome on Windows'],
    [`${desktop} Chrome/150.0.0.0 Safari/537.36 Edg/150.0.0.0`, 'Edge on Windows'],
    [`${mobile} (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1`, 'Safari on iOS'],
    ['Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0', 'Firefox on Android'],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
    ['node', 'a program'],
    ['<b>own text', '<b>own text'],
    ['', 'unnamed'],
  ])('is what %s says', (userAgent, device) => {
    expect(deviceOf(userAgent)).toBe(device);
  });
});

describe('the arguments of a call', () => {
  it.each([
    [
      '{"a":[1,2.50,{}],"b" : "x{,\\"y" ,"c":[ ]}',
      `{
  "a": [
    1,
    2.50,
    {}
  ],
  "b": "x{,\\"y",
  "c": []
}`,
    ],
    ['{"n":12345678901234567890}', '{\n  "n": 12345678901234567890\n}'],
    ['{"cut":"of', '{"cut":"of'],
    ['', ''],
    ['['.repeat(34) + ']'.repeat(34), '['.repeat(34) + ']'.repeat(34)],
  ])('are in lines where they are JSON, with values as written: %s', (written, shown) => {
    expect(indentJson(written)).toBe(shown);
  });
});
