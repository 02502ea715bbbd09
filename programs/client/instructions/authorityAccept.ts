import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { buildInstruction, type Deployment } from './build.ts';

/** Completes a proposal: the proposed key becomes the authority. */
export function authorityAccept(
  input: Deployment & {
    pendingAuthority: PublicKey;
  },
): TransactionInstruction {
  return buildInstruction('authority_accept', input);
}
