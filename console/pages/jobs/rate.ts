import type { ConsoleJob } from '../../../api/contracts/index.ts';
import { formatCount } from '../../design/formats.ts';

/** Which of its two prices a job was charged, and for which lengths of text that price holds. */
export function rateWords(
  rate: NonNullable<ConsoleJob['rate']>,
  price: ConsoleJob['price'],
): string {
  const threshold = formatCount(price.long_completion_threshold);
  if (rate === 'per_request') return `per request, for a text of up to ${threshold} tokens`;
  const credits = formatCount(price.credits_per_1k_tokens);
  return `at ${credits} per 1,000 tokens, for a text of more than ${threshold}`;
}
