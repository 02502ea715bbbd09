import { type Finding, notCheckable } from '../check.ts';
import { compare } from '../compare.ts';
import { type Balances, balancesBefore } from './balances.ts';
import type { PlacedEvent } from './evidence.ts';
import type { JobRecord } from './record.ts';

/** Compares a credit account after an event with what it held before, to which `change` is added. */
export function judgeBalances(
  { creditEvents }: JobRecord,
  { data }: PlacedEvent<'JobLocked' | 'JobSettled' | 'JobFailed' | 'JobRefunded'>,
  change: Balances,
): Finding {
  const before = balancesBefore(creditEvents, data.creditAccount, data.creditSequence);
  if (before === undefined) {
    return notCheckable('The node does not show what the credit account held before.');
  }
  const { availableCredits, accountLockedCredits } = data;
  return compare(
    {
      'what is available': [availableCredits, before.availableCredits + change.availableCredits],
      'what is locked': [accountLockedCredits, before.lockedCredits + change.lockedCredits],
    },
    `Available ${before.availableCredits} → ${availableCredits}, ` +
      `locked ${before.lockedCredits} → ${accountLockedCredits} credits.`,
  );
}
