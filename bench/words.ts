/** What every server of the benchmarks answers, a word at a time. */
export const WORDS: readonly string[] =
  'The same twenty words for everyone so that only the path to them is what makes any difference to the clock'
    .split(' ')
    .map((word) => `${word} `);

/**
 * Between the first word and the others. No engine has its last word, or its proof, in the moment of
 * its first one; of a server that sent both at once, the first word's time could not be told.
 */
export const GENERATION_MS = 2;
