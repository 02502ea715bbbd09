import { z } from 'zod';

/** The wallets of a development ledger, which sign for our pages. Another origin gets nothing. */
const developmentAccounts = z.object({
  accounts: z.array(
    z.object({
      name: z.string().describe('What it is on the ledger, such as `wallet` or `arbiter`.'),
      address: z.string(),
    }),
  ),
});

export type DevelopmentAccounts = z.infer<typeof developmentAccounts>;

export const developmentSignRequest = z.object({
  address: z.string().max(44),
  kind: z.enum(['message', 'transaction']),
  bytes: z.base64().max(16_384).describe('The message; or the transaction in its wire form.'),
});

export interface DevelopmentSigned {
  /** Base64: a message's signature, or a transaction with this account's signature in it. */
  signed: string;
}
