import { creditsNumber, usdcValue } from '../../../common/jsonForms.ts';
import type { LedgerEvent } from '../../decode.ts';
import type { Balance } from './balance.ts';
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
