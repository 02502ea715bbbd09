import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { createAddresses } from '../addresses.ts';
import { buildInstruction, type Deployment } from './build.ts';

/** Names who may lock this wallet's credits: a key, a Gateway, or nobody (the zero key). */
export function spenderSet(
  input: Deployment & {
    wallet: PublicKey;
    spender: PublicKey;
  },
): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  return buildInstruction('spender_set', {
    ...input,
    creditAccount: addresses.creditAccount(input.wallet),
  });
}
