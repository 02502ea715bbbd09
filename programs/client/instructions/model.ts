import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { createAddresses } from '../addresses.ts';
import { buildInstruction, type Deployment } from './build.ts';

/** Adds a model to the catalog or changes it. Jobs in flight keep the price they locked. */
export function modelUpsert(
  input: Deployment & {
    authority: PublicKey;
    /** The catalog's text id. */
    id: string;
    /** Index into TIERS. */
    tier: number;
    /** Parameter count, such as `8B`. */
    label: string;
    originator: string;
    contextWindowTokens: number;
    creditsPerRequest: number;
    creditsPer1kTokens: number;
    longCompletionThresholdTokens: number;
  },
): TransactionInstruction {
  return buildInstruction('model_upsert', {
    ...input,
    model: createAddresses(input.programId).model(input.id),
  });
}

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
