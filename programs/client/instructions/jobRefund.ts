import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { buildInstruction, type Deployment } from './build.ts';

/** Returns the credits of a job past its deadline; anybody may call it. */
export function jobRefund(
  input: Deployment & {
    job: PublicKey;
    creditAccount: PublicKey;
  },
): TransactionInstruction {
  return buildInstruction('job_refund', input);
}
