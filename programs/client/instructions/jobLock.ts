import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { createAddresses } from '../addresses.ts';
import { type Actor, buildInstruction, type Deployment } from './build.ts';

/** Locks credits for a new job; the signer, or its Gateway, becomes the job's controller. */
export function jobLock(
  input: Deployment &
    Actor & {
      /** Pays the Job's rent and gets it back when the job is closed. */
      payer: PublicKey;
      /** Whose credits. */
      wallet: PublicKey;
      modelId: string;
      /** 16 bytes, from createJobId. */
      jobId: Uint8Array;
      tokenLimit: number;
      /** The quoted lock; a higher price is refused as PriceChanged. */
      maxCredits: bigint;
    },
): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  const creditAccount = addresses.creditAccount(input.wallet);
  return buildInstruction('job_lock', {
    ...input,
    creditAccount,
    model: addresses.model(input.modelId),
    job: addresses.job(creditAccount, input.jobId),
  });
}
