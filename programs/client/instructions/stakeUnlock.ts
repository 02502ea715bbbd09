import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { createAddresses } from '../addresses.ts';
import { buildInstruction, type Deployment } from './build.ts';

/** Starts the cooldown after which this part of the stake can be withdrawn. */
export function stakeUnlock(
  input: Deployment & {
    authority: PublicKey;
    /** Whole tokens. */
    tokens: bigint;
  },
): TransactionInstruction {
  return buildInstruction('stake_unlock', {
    ...input,
    worker: createAddresses(input.programId).worker(input.authority),
  });
}
