import { nameOfBytes } from '../../programs/client/platform/bytes.ts';
import type { Message } from '../../programs/client/wire/index.ts';
import { budgetOf } from './fees.ts';

/** What a block takes, in units of a cluster's cost model. */
export interface BlockLimits {
  readonly blockUnits: number;
  /** For all transactions together that write one account. */
  readonly accountUnits: number;
}

// The constants of a cluster's cost model.
const UNITS_PER_SIGNATURE = 720;
const UNITS_PER_WRITTEN_ACCOUNT = 300;
const DATA_BYTES_PER_UNIT = 4;
const LOADED_PAGE_BYTES = 32 * 1_024;
const UNITS_PER_LOADED_PAGE = 8;

/**
 * What is left of an open block. As a leader does, it takes a transaction by what that asks for, and counts what it used. Loaded
 * bytes count as asked for: the runtime does not report them.
 */
export function createBlockSpace(limits: BlockLimits) {
  let units = 0;
  const unitsByAccount = new Map<string, number>();
  const unitsOf = (account: Uint8Array): number => unitsByAccount.get(nameOfBytes(account)) ?? 0;

  return {
    fits(transaction: Message, written: readonly Uint8Array[]): boolean {
      const cost = costOf(transaction, written.length, budgetOf(transaction).computeUnits);
      return (
        units + cost <= limits.blockUnits &&
        written.every((account) => unitsOf(account) + cost <= limits.accountUnits)
      );
    },
    /** @param computeUnits those it used, of the ones that it asked for */
    take(transaction: Message, written: readonly Uint8Array[], computeUnits: number): void {
      const cost = costOf(transaction, written.length, computeUnits);
      units += cost;
      for (const account of written)
        unitsByAccount.set(nameOfBytes(account), unitsOf(account) + cost);
    },
  };
}

function costOf(transaction: Message, written: number, computeUnits: number): number {
  const { verificationUnits, loadedBytes } = budgetOf(transaction);
  const dataBytes = transaction.instructions.reduce((sum, { data }) => sum + data.length, 0);
  return (
    transaction.header.numRequiredSignatures * UNITS_PER_SIGNATURE +
    verificationUnits +
    written * UNITS_PER_WRITTEN_ACCOUNT +
    Math.floor(dataBytes / DATA_BYTES_PER_UNIT) +
    Math.ceil(loadedBytes / LOADED_PAGE_BYTES) * UNITS_PER_LOADED_PAGE +
    computeUnits
  );
}
