import { creditsNumber, usdcValue } from '../../../runtime/jsonForms.ts';
import type { LedgerEvent } from '../../decode.ts';
import type { Describe, Occurrence } from './occurrence.ts';

export const describeCreditBought: Describe<'CreditBought'> = ({ data, signature, slot }) => {
  const remaining = BigInt(data.availableCredits);
  return {
    kind: 'credit.topup',
    wallet: data.wallet,
    data: {
      credits_added: creditsNumber(BigInt(data.credits)),
      credits_remaining: creditsNumber(remaining),
      usdc_value: usdcValue(remaining),
      tx: signature,
      chain_slot: Number(slot),
    },
  };
};

/** How an event leaves a wallet's balance. */
export interface Balance {
  readonly wallet: string;
  readonly availableCredits: bigint;
  /** Available and locked: what is locked may come back. */
  readonly totalCredits: bigint;
  /** Whether credits left for good, and not only into a lock. */
  readonly hasSpent: boolean;
}

/** The balance after an event that changed what a wallet has in all; null for any other. */
export function balanceAfter({ name, data }: LedgerEvent): Balance | null {
  switch (name) {
    case 'JobSettled':
      return balance(data.wallet, data.availableCredits, data.accountLockedCredits, true);
    case 'CreditWithdrawn':
      return balance(data.wallet, data.availableCredits, data.lockedCredits, true);
    case 'CreditBought':
      return balance(data.wallet, data.availableCredits, data.lockedCredits, false);
    default:
      return null;
  }
}

function balance(wallet: string, available: string, locked: string, hasSpent: boolean): Balance {
  const availableCredits = BigInt(available);
  return { wallet, availableCredits, totalCredits: availableCredits + BigInt(locked), hasSpent };
}

export function creditLow(
  event: LedgerEvent,
  { wallet, availableCredits }: Balance,
  thresholdCredits: bigint,
): Occurrence {
  return {
    kind: 'credit.low',
    event,
    wallet,
    data: {
      credits_remaining: creditsNumber(availableCredits),
      usdc_value: usdcValue(availableCredits),
      threshold: creditsNumber(thresholdCredits),
    },
  };
}
