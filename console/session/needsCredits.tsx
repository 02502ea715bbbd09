import { Link } from 'wouter';
import type { ConsoleAccount } from '../../api/contracts/index.ts';
import { useRead } from '../data/queries.ts';
import { Notice } from '../design/notice.tsx';

/** Why the wallet can pay for no request, and what changes that; undefined where it can, or is not known yet. */
export function useMissingCredits(): readonly [what: string, remedy: string] | undefined {
  const account = useRead('/account').data;
  return account && missingOf(account);
}

function missingOf({
  is_open,
  spender,
  available_credits,
}: ConsoleAccount): readonly [string, string] | undefined {
  if (!is_open) return ['Your wallet has no credit account yet.', 'Buy the first credits'];
  if (spender?.is_service !== true) {
    return ['This service may lock none of your credits.', 'Name it by changing the limits'];
  }
  if (available_credits === 0) return ['Your wallet has no credits available.', 'Buy credits'];
  return undefined;
}

/** Says it before the owner fills in a form in vain. */
export function NeedsCredits() {
  const missing = useMissingCredits();
  if (missing === undefined) return null;
  const [what, remedy] = missing;
  return (
    <Notice tone="info">
      <p>
        {what} <Link href="/console/credits">{remedy}</Link> first.
      </p>
    </Notice>
  );
}
