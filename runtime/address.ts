import { PublicKey } from '@solana/web3.js';
import { z } from 'zod';

/** An address on the ledger, in base58. */
export const addressSetting = z.string().transform((text, context) => {
  try {
    return new PublicKey(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'not a ledger address' });
    return z.NEVER;
  }
});
