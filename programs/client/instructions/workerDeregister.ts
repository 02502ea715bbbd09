import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { createAddresses } from '../addresses.ts';
import { buildInstruction, type Deployment } from './build.ts';

/** Ends a worker's service. Its account stays, so that its history is never replayed. */
export function workerDeregister(
  input: Deployment & {
    authority: PublicKey;
  },
): TransactionInstruction {
  return buildInstruction('worker_deregister', {
    ...input,
    worker: createAddresses(input.programId).worker(input.authority),
  });
}
