import { chargeCredits } from '../../../programs/client/pricing.ts';
import { countOf, formatCount } from '../../design/formats.ts';
import { formatUsdc } from '../../design/values.tsx';
import type { boundsOf } from './question.ts';

export const creditsOf = (credits: bigint) =>
  `${countOf(Number(credits), 'credit')} (${formatUsdc(credits)})`;

/** What a request costs before it is sent: the lock is the most, a usual answer is charged less. */
export function PriceLine({ price, tokenLimit, locked }: ReturnType<typeof boundsOf>) {
  const threshold = price.longCompletionThresholdTokens;
  const usual = chargeCredits(price, threshold, locked);
  return (
    <p className="soft" role="status" aria-label="Price">
      Locks at most <strong>{creditsOf(locked)}</strong>. An answer of up to{' '}
      {formatCount(threshold)} tokens is charged {countOf(Number(usual), 'credit')}
      {tokenLimit > threshold && `, a longer one ${price.creditsPer1kTokens} per 1,000 tokens`}.
    </p>
  );
}
