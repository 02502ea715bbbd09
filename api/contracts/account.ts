import { z } from 'zod';
import { credits, ledgerAddress, time, usdc } from './values.ts';

/** The balance that a key spends from. */
export const accountObject = z.object({
  wallet: ledgerAddress.describe('The wallet that owns the key.'),
  credits_remaining: credits.describe('Credits available; those locked for jobs are not in it.'),
  usdc_value: usdc.describe('The same in stablecoin units.'),
  last_topup_at: time.nullable().describe('Null before the first purchase.'),
  api_key_created_at: time,
});

export type AccountObject = z.infer<typeof accountObject>;
