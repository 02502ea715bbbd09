import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { buildInstruction, type Deployment } from './build.ts';

/** Names who may become the program's authority; the zero key withdraws the proposal. */
export function authorityPropose(
  input: Deployment & {
    authority: PublicKey;
    pendingAuthority: PublicKey;
  },
): TransactionInstruction {
  return buildInstruction('authority_propose', input);
}
