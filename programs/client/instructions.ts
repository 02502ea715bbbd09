import type { TransactionInstruction } from '@solana/web3.js';
import { createInstruction } from '#instruction';
import { PublicKey } from '#publicKey';
import { createAddresses, ED25519_PROGRAM, findAddress, PROGRAM_ID } from './addresses.ts';
import * as generated from './generated/instructions.ts';
import { ed25519InstructionData } from './proof.ts';

/**
 * Every instruction of the program, generated from its interface. Added is what an interface cannot
 * express: a signature that depends on an argument, and accounts that are nearly always the same.
 */
export * from './generated/instructions.ts';

/** What the authority may set, within the program's bounds. */
export type ConfigSettings = Omit<generated.ConfigUpdateInput, 'authority' | 'programId'>;

const UPGRADEABLE_LOADER = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111');

/**
 * Creates the program's one Config, its Treasury and its three token accounts.
 *
 * @param input.programData the program's own id where the old loader owns it, as in solana-bankrun
 */
export function configInitialize(
  input: Omit<generated.ConfigInitializeInput, 'programData'> & { programData?: PublicKey },
): TransactionInstruction {
  const seeds = [(input.programId ?? PROGRAM_ID).toBytes()];
  const programData = findAddress(seeds, UPGRADEABLE_LOADER);
  return generated.configInitialize({ programData, ...input });
}

type SpenderLimits = 'spender' | 'limitPerJobCredits' | 'limitPerDayCredits';
const NO_SPENDER = {
  spender: PublicKey.default,
  limitPerJobCredits: 0n,
  limitPerDayCredits: 0n,
};

/**
 * Opens a wallet's CreditAccount; anybody may pay its rent. Only the wallet can name a spender, so
 * it must sign when one is given, together with the spender's limits in credits.
 */
export function creditOpen(
  input: Omit<generated.CreditOpenInput, SpenderLimits> &
    (Pick<generated.CreditOpenInput, SpenderLimits> | { spender?: undefined }),
): TransactionInstruction {
  const { wallet } = input;
  if (input.spender === undefined) return generated.creditOpen({ ...input, ...NO_SPENDER });
  const instruction = generated.creditOpen(input);
  for (const key of instruction.keys) if (key.pubkey === wallet) key.isSigner = true;
  return instruction;
}

/**
 * Pays out what a settlement or verdict could only note down; anybody may call it.
 *
 * @param input.payout a worker's payout account; the other claimants are paid inside the program
 */
export function claimPay(
  input: Omit<generated.ClaimPayInput, 'payout'> & { payout?: PublicKey | undefined },
): TransactionInstruction {
  const { treasuryVault } = createAddresses(input.programId);
  return generated.claimPay({ ...input, payout: input.payout ?? treasuryVault });
}

/** A message and the signature that the ed25519 program is to verify. */
export type SignedMessage = Parameters<typeof ed25519InstructionData>[0];

/** The precompile's instruction that job_prove names by its index. */
export function ed25519Instruction(proof: SignedMessage): TransactionInstruction {
  const data = ed25519InstructionData(proof);
  return createInstruction({ programId: ED25519_PROGRAM, keys: [], data });
}

/**
 * A verdict with its evidence right before it, as the program demands.
 *
 * @param evidence for `upheld_worker` the recorded proof and the one that differs, in this order; for
 *   `upheld_gateway` the delivery receipt; for `rejected` none
 */
export function verdictInstructions(
  evidence: readonly SignedMessage[],
  verdict: generated.DisputeResolveInput,
): TransactionInstruction[] {
  return [...evidence.map(ed25519Instruction), generated.disputeResolve(verdict)];
}
