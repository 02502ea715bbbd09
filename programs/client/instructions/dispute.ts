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

/** The arbiter's verdict. */
export function disputeResolve(
  input: Deployment & {
    arbiter: PublicKey;
    job: PublicKey;
    creditAccount: PublicKey;
    /** The Worker account. */
    worker: PublicKey;
    /** Index into DISPUTE_OUTCOMES, 1 to 3. */
    verdict: number;
    /** Sha256 of the published evidence. */
    evidenceHash: Uint8Array;
  },
): TransactionInstruction {
  return buildInstruction('dispute_resolve', input);
}

/** Closes a dispute that nobody decided in time; anybody may call it. */
export function disputeExpire(
  input: Deployment & {
    job: PublicKey;
    creditAccount: PublicKey;
  },
): TransactionInstruction {
  return buildInstruction('dispute_expire', input);
}
