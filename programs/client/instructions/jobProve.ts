import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { buildInstruction, type Deployment } from './build.ts';

/** Records the worker's proof, whose signature the precompile checks in the same transaction. */
export function jobProve(
  input: Deployment & {
    job: PublicKey;
    /** The Worker account. */
    worker: PublicKey;
    /** Position of ed25519Instruction's result in the transaction. */
    ed25519InstructionIndex: number;
    outputHash: Uint8Array;
    promptTokens: number;
    completionTokens: number;
  },
): TransactionInstruction {
  return buildInstruction('job_prove', input);
}
