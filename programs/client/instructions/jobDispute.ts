import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { type Actor, buildInstruction, type Deployment } from './build.ts';

/** Opens a dispute over a settled job; the wallet itself or the job's controller may. */
export function jobDispute(
  input: Deployment &
    Actor & {
      job: PublicKey;
      creditAccount: PublicKey;
      /** Sha256 of the text that the client received. */
      clientHash: Uint8Array;
    },
): TransactionInstruction {
  return buildInstruction('job_dispute', input);
}
