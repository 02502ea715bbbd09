import { base64 } from '@scure/base';
import type { PublicKey as Key, TransactionInstruction } from '@solana/web3.js';
import { PublicKey } from '#platform';
import { type Commitment, simulateTransaction } from '../rpc/methods.ts';
import type { LedgerNode } from '../rpc/rpc.ts';
import { compileMessage, encodeDraft, type TransactionConfig } from '../wire/index.ts';

/**
 * What instructions would do at present, without a signature.
 *
 * @param options.watched addresses of the accounts to show as the transaction would leave them
 * @throws RpcError, NoAnswerError when the node does not say
 */
export function simulate(
  rpc: LedgerNode,
  options: {
    readonly payer: Key;
    readonly instructions: readonly TransactionInstruction[];
    readonly watched: readonly string[];
    readonly commitment: Commitment;
    /** Makes it one of version 1; by default it is a legacy one. */
    readonly config?: TransactionConfig;
  },
): ReturnType<typeof simulateTransaction> {
  const { payer, instructions, watched: accounts, commitment, config } = options;
  const compiled = compileMessage({
    version: config ? 1 : 'legacy',
    ...(config && { config }),
    instructions,
    feePayer: payer,
    // The node replaces it.
    blockhash: PublicKey.default.toBytes(),
  });
  const wire = base64.encode(encodeDraft(compiled));
  return simulateTransaction(rpc, wire, { commitment, accounts });
}
