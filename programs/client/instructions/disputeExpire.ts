import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { buildInstruction, type Deployment } from './build.ts';

/** Closes a dispute that nobody decided in time; anybody may call it. */
export function disputeExpire(
  input: Deployment & {
    job: PublicKey;
    creditAccount: PublicKey;
  },
): TransactionInstruction {
  return buildInstruction('dispute_expire', input);
}
