import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { createAddresses } from '../addresses.ts';
import { buildInstruction, type Deployment } from './build.ts';

/** Declares that the worker no longer runs a model. */
export function workerUnhost(
  input: Deployment & {
    authority: PublicKey;
    modelId: string;
  },
): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  return buildInstruction('worker_unhost', {
    ...input,
    worker: addresses.worker(input.authority),
    model: addresses.model(input.modelId),
  });
}
