import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { buildInstruction, type Deployment } from './build.ts';

/** Takes a worker out of service, or lets it back. */
export function workerSuspend(
  input: Deployment & {
    arbiter: PublicKey;
    /** The Worker account. */
    worker: PublicKey;
    suspended: boolean;
  },
): TransactionInstruction {
  return buildInstruction('worker_suspend', input);
}
