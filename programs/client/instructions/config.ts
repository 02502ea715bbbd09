import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { PROGRAM_ID } from '../addresses.ts';
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

const UPGRADEABLE_LOADER = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111');

/** Creates the program's one Config, its Treasury and its three token accounts. */
export function configInitialize(
  input: Deployment &
    ConfigSettings & {
      /** The program's upgrade authority; pays the rent. */
      authority: PublicKey;
      creditMint: PublicKey;
      stakeMint: PublicKey;
      /** The program's own id where the old loader owns it, as in solana-bankrun. */
      programData?: PublicKey;
    },
): TransactionInstruction {
  const seeds = [(input.programId ?? PROGRAM_ID).toBytes()];
  const [programData] = PublicKey.findProgramAddressSync(seeds, UPGRADEABLE_LOADER);
  return buildInstruction('config_initialize', { programData, ...input });
}

/** Names who may become the program's authority; the zero key withdraws the proposal. */
export function authorityPropose(
  input: Deployment & {
    authority: PublicKey;
    pendingAuthority: PublicKey;
  },
): TransactionInstruction {
  return buildInstruction('authority_propose', input);
}

/** Completes a proposal: the proposed key becomes the authority. */
export function authorityAccept(
  input: Deployment & {
    pendingAuthority: PublicKey;
  },
): TransactionInstruction {
  return buildInstruction('authority_accept', input);
}

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

/** Takes earned shares out of the treasury, never what it owes or has at stake in disputes. */
export function treasuryWithdraw(
  input: Deployment & {
    authority: PublicKey;
    /** A stablecoin token account. */
    destination: PublicKey;
    baseUnits: bigint;
  },
): TransactionInstruction {
  return buildInstruction('treasury_withdraw', input);
}
