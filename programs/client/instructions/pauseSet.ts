import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { buildInstruction, type Deployment } from './build.ts';

/** Stops or resumes deposits and locks. Exits can never be paused. */
export function pauseSet(
  input: Deployment & {
    authority: PublicKey;
    depositsPaused: boolean;
    locksPaused: boolean;
  },
): TransactionInstruction {
  return buildInstruction('pause_set', input);
}
