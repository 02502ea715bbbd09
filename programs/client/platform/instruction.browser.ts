import type { AccountMeta, PublicKey, TransactionInstruction } from '@solana/web3.js';
import type * as node from './instruction.node.ts';

/** The parts of an instruction without web3.js: see `instruction.node.ts`. */
export function createInstruction(parts: {
  readonly programId: PublicKey;
  readonly keys: AccountMeta[];
  readonly data: Uint8Array;
}): TransactionInstruction {
  // Its data is a Buffer there, and its class has one more method, which this client never calls.
  return parts as TransactionInstruction;
}

// Fails to compile when Node's build exports more than this one.
({ createInstruction }) satisfies typeof node;
