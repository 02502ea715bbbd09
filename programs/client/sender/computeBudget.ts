import { ComputeBudgetProgram, TransactionInstruction } from '@solana/web3.js';

/**
 * What our transactions load: the escrow and token programs' code, some 250 kB, and small accounts.
 * Left unsaid it would be `LOADED_BYTES_MAX`, which the ledger charges to the block like 16,000
 * compute units.
 */
export const LOADED_BYTES_USUAL = 512 * 1024;
/** The most that any transaction may load. */
export const LOADED_BYTES_MAX = 64 * 1024 * 1024;
const SET_LOADED_ACCOUNTS_DATA_SIZE_LIMIT = 4;
/** What the ledger charges a transaction for each instruction of this kind. */
const INSTRUCTION_COMPUTE_UNITS = 150;

/**
 * The instructions that bound what a transaction may use and, if named, what it pays for priority.
 * They belong behind all others, so that those keep their positions.
 *
 * @param limits.computeUnits what the other instructions may use together
 * @param limits.microLamports price of one compute unit
 * @param limits.loadedBytes what programs and accounts may have together
 */
export function computeBudget(limits: {
  computeUnits: number;
  microLamports: number | undefined;
  loadedBytes?: number;
}): TransactionInstruction[] {
  const { computeUnits, microLamports, loadedBytes = LOADED_BYTES_USUAL } = limits;
  const priced =
    microLamports === undefined
      ? []
      : [ComputeBudgetProgram.setComputeUnitPrice({ microLamports })];
  const units = computeUnits + (2 + priced.length) * INSTRUCTION_COMPUTE_UNITS;
  return [
    ComputeBudgetProgram.setComputeUnitLimit({ units }),
    loadedAccountsLimit(loadedBytes),
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
