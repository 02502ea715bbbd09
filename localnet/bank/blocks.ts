import type { TransactionError } from '../runtime/transactionError.ts';
import type { KeptTransaction } from '../store/store.ts';
import type { Change } from './execute.ts';

/** A transaction in a block. */
export interface LandedTransaction extends KeptTransaction {
  /** In base58. */
  readonly signatureText: string;
  /** All its accounts. */
  readonly keys: readonly Uint8Array[];
  readonly logs: readonly string[];
  readonly err: TransactionError | null;
}

/** A block of which something may still be asked as if it had not been. */
export interface Block {
  readonly slot: number;
  readonly clockMs: number;
  readonly transactions: LandedTransaction[];
  /** By key of the address: what each account was before the block, and what it is since. */
  readonly changes: Map<string, Change>;
}

export function createBlock(slot: number, clockMs: number): Block {
  return { slot, clockMs, transactions: [], changes: new Map() };
}

/** Adds an account's change to those that the block has made already. */
export function recordChange(block: Block, key: string, change: Change): void {
  const { before } = block.changes.get(key) ?? change;
  block.changes.set(key, { ...change, before });
}
