import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { createAddresses } from '../addresses.ts';
import { buildInstruction, type Deployment } from './build.ts';

/** Opens a Worker account; the worker gets jobs once it has staked and hosts a model. */
export function workerRegister(
  input: Deployment & {
    /** Pays the rent. */
    authority: PublicKey;
    /** A stablecoin token account. */
    payout: PublicKey;
    /** The ed25519 key that signs proofs. */
    proofKey: PublicKey;
    /** Where the service posts jobs. */
    endpoint: string;
  },
): TransactionInstruction {
  return buildInstruction('worker_register', {
    ...input,
    worker: createAddresses(input.programId).worker(input.authority),
  });
}
