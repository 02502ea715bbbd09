import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { type Actor, buildInstruction, type Deployment } from './build.ts';

/** Ends a job without a charge and unlocks its credits. */
export function jobFail(
  input: Deployment &
    Actor & {
      job: PublicKey;
      creditAccount: PublicKey;
      /** Index into FAILURE_REASONS. */
      reason: number;
      /** Looked at when a proof was given. */
      deliveredHash: Uint8Array;
      /** Looked at when a proof was given. */
      countedTokens: number;
    },
): TransactionInstruction {
  return buildInstruction('job_fail', input);
}
