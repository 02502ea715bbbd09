import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { createAddresses } from '../addresses.ts';
import { buildInstruction, type Deployment } from './build.ts';

/** Sets the date from which a model takes no more jobs. */
export function modelRetire(
  input: Deployment & {
    authority: PublicKey;
    modelId: string;
    /** Unix seconds, at least 30 days ahead; 0 takes it back. */
    retiresAt: bigint;
  },
): TransactionInstruction {
  return buildInstruction('model_retire', {
    ...input,
    model: createAddresses(input.programId).model(input.modelId),
  });
}
