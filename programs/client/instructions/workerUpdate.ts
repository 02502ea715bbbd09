import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { createAddresses } from '../addresses.ts';
import { buildInstruction, type Deployment } from './build.ts';

/** Changes a worker's proof key, endpoint and payout. */
export function workerUpdate(
  input: Deployment & {
    authority: PublicKey;
    /** A stablecoin token account. */
    payout: PublicKey;
    proofKey: PublicKey;
    endpoint: string;
  },
): TransactionInstruction {
  return buildInstruction('worker_update', {
    ...input,
    worker: createAddresses(input.programId).worker(input.authority),
  });
}
