import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { createAddresses } from '../addresses.ts';
import { buildInstruction, type Deployment } from './build.ts';

/** Bounds what the spender may lock. The wallet itself is not bound. */
export function limitSet(
  input: Deployment & {
    wallet: PublicKey;
    /** The greatest u64 means none. */
    limitPerJobCredits: bigint;
    /** Per UTC day; the greatest u64 means none. */
    limitPerDayCredits: bigint;
  },
): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  return buildInstruction('limit_set', {
    ...input,
    creditAccount: addresses.creditAccount(input.wallet),
  });
}
