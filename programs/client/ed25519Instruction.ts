import { Ed25519Program, type PublicKey, TransactionInstruction } from '@solana/web3.js';
import { ed25519InstructionData } from './proof.ts';

/** The precompile's instruction that job_prove names by its index. */
export function ed25519Instruction(proof: {
  publicKey: PublicKey;
  message: Uint8Array;
  signature: Uint8Array;
}): TransactionInstruction {
  const data = Buffer.from(ed25519InstructionData(proof));
  return new TransactionInstruction({ programId: Ed25519Program.programId, keys: [], data });
}
