import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { buildInstruction, type Deployment } from './build.ts';

/** Takes earned shares out of the treasury, never what it owes or has at stake in disputes. */
export function treasuryWithdraw(
  input: Deployment & {
    authority: PublicKey;
    /** A stablecoin token account. */
    destination: PublicKey;
    baseUnits: bigint;
  },
): TransactionInstruction {
  return buildInstruction('treasury_withdraw', input);
}
