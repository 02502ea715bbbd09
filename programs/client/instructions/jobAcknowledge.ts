import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { type Actor, buildInstruction, type Deployment } from './build.ts';

/** Binds a job to the worker that is asked to run it. Repeating it does nothing. */
export function jobAcknowledge(
  input: Deployment &
    Actor & {
      job: PublicKey;
      /** The Worker account. */
      worker: PublicKey;
      /** From 1, greater with each worker asked. */
      attempt: number;
    },
): TransactionInstruction {
  return buildInstruction('job_acknowledge', input);
}
