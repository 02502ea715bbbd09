import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { buildInstruction, type Deployment } from './build.ts';

/** Adds to a worker's stake; anybody may pay. */
export function stakeDeposit(
  input: Deployment & {
    /** Owner of the paying token account. */
    depositor: PublicKey;
    depositorTokenAccount: PublicKey;
    /** The Worker account. */
    worker: PublicKey;
    /** Whole tokens. */
    tokens: bigint;
  },
): TransactionInstruction {
  return buildInstruction('stake_deposit', input);
}
