import {
  Ed25519Program,
  PublicKey,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js';

/** What every cluster takes for a signature; one that the ed25519 program verifies counts as one. */
const LAMPORTS_PER_SIGNATURE = 5_000;
/** The largest packet that the network passes on. */
const TRANSACTION_BYTES_MAX = 1_232;
const SIGNATURE_BYTES = 64;

const compile = (instructions: readonly TransactionInstruction[], feePayer: PublicKey) =>
  new Transaction({ feePayer, recentBlockhash: PublicKey.default.toBase58() })
    .add(...instructions)
    .compileMessage();

/** Whether the network passes on a transaction with these instructions. */
function fits(instructions: readonly TransactionInstruction[], feePayer: PublicKey): boolean {
  const message = compile(instructions, feePayer);
  const signatures = message.header.numRequiredSignatures;
  const lengthBytes = 1;
  const bytes = lengthBytes + signatures * SIGNATURE_BYTES + message.serialize().length;
  return bytes <= TRANSACTION_BYTES_MAX;
}

/**
 * The fee of a transaction with these instructions, without a price for priority.
 *
 * @throws RangeError when they are too large for one transaction
 */
export function feeLamports(
  instructions: readonly TransactionInstruction[],
  feePayer: PublicKey,
): number {
  if (!fits(instructions, feePayer)) throw new RangeError('too large for one transaction');
  const signatures = compile(instructions, feePayer).header.numRequiredSignatures;
  const verified = instructions
    .filter(({ programId }) => programId.equals(Ed25519Program.programId))
    .reduce((sum, { data }) => sum + data.readUInt8(0), 0);
  return (signatures + verified) * LAMPORTS_PER_SIGNATURE;
}

/**
 * How many of a kind share a transaction at most.
 *
 * @param compose makes the transaction's instructions for so many jobs
 */
export function largestBatch(
  compose: (jobs: number) => readonly TransactionInstruction[],
  feePayer: PublicKey,
): number {
  let jobs = 1;
  while (fits(compose(jobs + 1), feePayer)) jobs += 1;
  return jobs;
}
