import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { createAddresses } from '../addresses.ts';
import { buildInstruction, type Deployment } from './build.ts';

/** Pays stablecoin into the vault for anybody's credits. */
export function creditBuy(
  input: Deployment & {
    /** Owner of the paying token account. */
    buyer: PublicKey;
    buyerTokenAccount: PublicKey;
    /** Who gets the credits. */
    wallet: PublicKey;
    /** 10,000 base units each. */
    credits: bigint;
  },
): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  return buildInstruction('credit_buy', {
    ...input,
    creditAccount: addresses.creditAccount(input.wallet),
  });
}
