import { Ed25519Program, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { createAddresses, PROGRAM_ID } from './addresses.ts';
import * as generated from './generated/instructions.ts';
import { ed25519InstructionData } from './proof.ts';

/**
 * Every instruction of the program, as generated from its interface, with what an interface cannot
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
  const [programData] = PublicKey.findProgramAddressSync(seeds, UPGRADEABLE_LOADER);
  return generated.configInitialize({ programData, ...input });
}

/**
 * Opens a wallet's CreditAccount; anybody may pay its rent. Only the wallet can name a spender, so
 * it must sign when one is given.
 */
export function creditOpen(
  input: Omit<generated.CreditOpenInput, 'spender'> & { spender?: PublicKey | undefined },
): TransactionInstruction {
  const { wallet, spender = PublicKey.default } = input;
  const instruction = generated.creditOpen({ ...input, spender });
  if (input.spender === undefined) return instruction;
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

/** The precompile's instruction that job_prove names by its index. */
export function ed25519Instruction(proof: {
  publicKey: PublicKey;
  message: Uint8Array;
  signature: Uint8Array;
}): TransactionInstruction {
  const data = Buffer.from(ed25519InstructionData(proof));
  return new TransactionInstruction({ programId: Ed25519Program.programId, keys: [], data });
}
