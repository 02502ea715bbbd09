const TENS = ['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];
const ONES = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

/** English, from 20 to 99. */
export function numberInWords(number: number): string {
  const tens = TENS[Math.floor(number / 10) - 2];
  const ones = ONES[(number % 10) - 1];
  return ones === undefined ? `${tens}` : `${tens}-${ones}`;
}
