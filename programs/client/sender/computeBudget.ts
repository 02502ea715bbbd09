import { ComputeBudgetProgram, TransactionInstruction } from '@solana/web3.js';

/**
 * What our transactions load at most: the escrow and token programs' code, some 250 kB, and small
 * accounts. Left unsaid it would be 64 MiB, which the ledger charges to the block like 16,000
 * compute units.
 */
const LOADED_ACCOUNTS_BYTES_MAX = 512 * 1024;
const SET_LOADED_ACCOUNTS_DATA_SIZE_LIMIT = 4;
/** What the ledger charges a transaction for each instruction of this kind. */
const INSTRUCTION_COMPUTE_UNITS = 150;

/**
 * The instructions that bound what a transaction may use and, if named, what it pays for priority.
 * They belong behind all others, so that those keep their positions.
 *
 * @param limits.computeUnits what the other instructions may use together
 * @param limits.microLamports price of one compute unit
 */
export function computeBudget(limits: {
  computeUnits: number;
  microLamports: number | undefined;
}): TransactionInstruction[] {
  const { computeUnits, microLamports } = limits;
  const priced =
    microLamports === undefined
      ? []
      : [ComputeBudgetProgram.setComputeUnitPrice({ microLamports })];
  const units = computeUnits + (2 + priced.length) * INSTRUCTION_COMPUTE_UNITS;
  return [
    ComputeBudgetProgram.setComputeUnitLimit({ units }),
    loadedAccountsLimit(LOADED_ACCOUNTS_BYTES_MAX),
    ...priced,
  ];
}

/** web3.js has no builder for this one: the discriminator and a u32. */
function loadedAccountsLimit(bytes: number): TransactionInstruction {
  const data = Buffer.alloc(5);
  data.writeUInt8(SET_LOADED_ACCOUNTS_DATA_SIZE_LIMIT, 0);
  data.writeUInt32LE(bytes, 1);
  return new TransactionInstruction({ programId: ComputeBudgetProgram.programId, keys: [], data });
}
