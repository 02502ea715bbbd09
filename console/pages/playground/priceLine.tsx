import { chargeCredits, type Price } from '../../../programs/client/pricing.ts';
import { formatUsdc } from '../../design/credits.tsx';
import { countOf, formatCount } from '../../design/formats.ts';

export const creditsOf = (credits: bigint) =>
  `${countOf(Number(credits), 'credit')} (${formatUsdc(credits)})`;

/** What a request costs before it is sent: the lock is the most, a usual answer is charged less. */
export function PriceLine({ price, locked }: { readonly price: Price; readonly locked: bigint }) {
  const threshold = price.longCompletionThresholdTokens;
  const usual = chargeCredits(price, threshold, locked);
  const rate = formatCount(price.creditsPer1kTokens);
  return (
    <p className="soft" role="status" aria-label="Price">
      Locks at most <strong>{creditsOf(locked)}</strong>. An answer of up to{' '}
      {formatCount(threshold)} tokens is charged {countOf(Number(usual), 'credit')}; a longer one{' '}
      {rate} per 1,000 tokens.
    </p>
  );
}
