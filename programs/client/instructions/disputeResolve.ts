import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { buildInstruction, type Deployment } from './build.ts';

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
