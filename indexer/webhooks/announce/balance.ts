import type { Database } from '../../../common/postgres.ts';
import { CLAIMANT_KINDS, word } from '../../../programs/client/vocabulary.ts';
import type { EventOf } from '../../apply/change.ts';
import type { LedgerEvent } from '../../decode.ts';

/** How an event leaves a wallet's balance. */
export interface Balance {
  readonly wallet: string;
  readonly availableCredits: bigint;
  /** Available and locked: what is locked may come back. */
  readonly totalCredits: bigint;
  /** Whether credits left for good, and not only into a lock. */
  readonly hasSpent: boolean;
}

/** The balance after a folded event that changed what a wallet has in all; null for any other. */
export async function balanceAfter(
  database: Database,
  { name, data }: LedgerEvent,
): Promise<Balance | null> {
  switch (name) {
    case 'JobSettled':
      return balance(data.wallet, data.availableCredits, data.accountLockedCredits, true);
    case 'CreditWithdrawn':
      return balance(data.wallet, data.availableCredits, data.lockedCredits, true);
    case 'CreditBought':
      return balance(data.wallet, data.availableCredits, data.lockedCredits, false);
    case 'ClaimPaid':
      return isOfCreditAccount(data) ? balanceAfterClaim(database, data) : null;
    default:
      return null;
  }
}

type Claim = EventOf<'ClaimPaid'>['data'];

/** Whether an upheld dispute was repaid, and not a worker or the treasury paid. */
export function isOfCreditAccount({ claimantKind }: Claim): boolean {
  return word(CLAIMANT_KINDS, claimantKind) === 'credit_account';
}

/**
 * The event tells neither the wallet nor what is locked. The account's last event before it that
 * tells them does; its row may be further by now.
 */
async function balanceAfterClaim(
  database: Database,
  { claimant, claimantSequence, availableCredits }: Claim,
): Promise<Balance | null> {
  const { rows } = await database.query<{ wallet: string; locked_credits: string }>(
    `select data ->> 'wallet' as wallet,
       coalesce(data ->> 'accountLockedCredits', data ->> 'lockedCredits') as locked_credits
     from account_changes change
     join journal using (signature, instruction_index, inner_index)
     where change.address = $1 and change.sequence < $2 and folded
       and data ?| array['accountLockedCredits', 'lockedCredits']
     order by change.sequence desc limit 1`,
    [claimant, claimantSequence],
  );
  const [before] = rows;
  return before ? balance(before.wallet, availableCredits, before.locked_credits, false) : null;
}

function balance(wallet: string, available: string, locked: string, hasSpent: boolean): Balance {
  const availableCredits = BigInt(available);
  return { wallet, availableCredits, totalCredits: availableCredits + BigInt(locked), hasSpent };
}
