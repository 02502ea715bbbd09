import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { type Actor, buildInstruction, type Deployment } from './build.ts';

/** Charges the job and pays the worker and the treasury. */
export function jobSettle(
  input: Deployment &
    Actor & {
      job: PublicKey;
      creditAccount: PublicKey;
      /** The Worker account. */
      worker: PublicKey;
      workerPayout: PublicKey;
      /** Sha256 of the text that the client was given. */
      deliveredHash: Uint8Array;
      /** Output tokens as the controller counted them. */
      countedTokens: number;
    },
): TransactionInstruction {
  return buildInstruction('job_settle', input);
}
