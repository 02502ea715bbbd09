import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { buildInstruction, type Deployment } from './build.ts';

/** What the authority may set, within the program's bounds. */
export type ConfigSettings = {
  /** Decides disputes; not the authority. */
  readonly arbiter: PublicKey;
  readonly treasuryShareBasisPoints: number;
  readonly unstakeCooldownSeconds: number;
  /** Open disputes a wallet may have at a time. */
  readonly openDisputesMax: number;
  /** Whole tokens, as the next. */
  readonly minimumStakeTokens: bigint;
  readonly slashTokens: number;
  readonly jobCreditsMax: bigint;
  readonly creditAccountCreditsMax: bigint;
};

/** Replaces the program's settings. Jobs in flight keep theirs. */
export function configUpdate(
  input: Deployment & ConfigSettings & { authority: PublicKey },
): TransactionInstruction {
  return buildInstruction('config_update', input);
}
