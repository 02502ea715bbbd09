import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { buildInstruction, type Deployment } from './build.ts';

/** Repays the rent of a job that is over; anybody may call it. */
export function jobClose(
  input: Deployment & {
    job: PublicKey;
    /** As the Job records it. */
    rentPayer: PublicKey;
  },
): TransactionInstruction {
  return buildInstruction('job_close', input);
}
