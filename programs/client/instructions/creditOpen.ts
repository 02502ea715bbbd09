import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { createAddresses } from '../addresses.ts';
import { buildInstruction, type Deployment } from './build.ts';

/**
 * Opens a wallet's CreditAccount; anybody may pay its rent. Only the wallet can name a spender, so
 * it must sign when one is given.
 */
export function creditOpen(
  input: Deployment & { payer: PublicKey; wallet: PublicKey; spender?: PublicKey | undefined },
): TransactionInstruction {
  const fields = {
    ...input,
    creditAccount: createAddresses(input.programId).creditAccount(input.wallet),
    spender: input.spender ?? PublicKey.default,
  };
  return buildInstruction('credit_open', fields, input.spender === undefined ? [] : ['wallet']);
}
