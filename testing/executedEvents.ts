import type { PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import type { Execution } from '../localnet/runtime/runtime.ts';
import { type DecodedEvent, decodeEvents } from '../programs/client/index.ts';

/**
 * The program's events among the calls of a transaction that LiteSVM executed.
 *
 * @param accountKeys the transaction's accounts, in the order of its message
 */
export function executedEvents(
  { err, innerInstructions }: Execution,
  accountKeys: readonly PublicKey[],
): DecodedEvent[] {
  return decodeEvents({
    transaction: { message: { accountKeys } },
    meta: {
      err,
      innerInstructions: innerInstructions.map((calls, index) => ({
        index,
        instructions: calls.map(({ programIdIndex, accounts, data }) => ({
          programIdIndex,
          accounts: [...accounts],
          data: bs58.encode(data),
        })),
      })),
    },
  });
}
