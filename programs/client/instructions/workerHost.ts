import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { createAddresses } from '../addresses.ts';
import { buildInstruction, type Deployment } from './build.ts';

/** Declares that the worker runs a model. */
export function workerHost(
  input: Deployment & {
    authority: PublicKey;
    modelId: string;
  },
): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  return buildInstruction('worker_host', {
    ...input,
    worker: addresses.worker(input.authority),
    model: addresses.model(input.modelId),
  });
}
