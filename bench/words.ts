/** The answer of every server of the benchmarks, one word at a time. */
export const WORDS: readonly string[] =
  'The same twenty words for everyone so that only the path to them is what makes any difference to the clock'
    .split(' ')
    .map((word) => `${word} `);
