import type { Commitment } from './accounts.ts';
import type { Rpc } from './rpc.ts';
import { fieldsOf, listOf, numberOf, textOf } from './shapes.ts';

/** The newest slot of that commitment. */
export function getSlot(
  rpc: Rpc,
  options: { readonly commitment: Commitment; readonly minContextSlot?: number },
): Promise<number> {
  return rpc.ask('getSlot', [options], numberOf);
}

/** How many blocks there are, and the slot of the newest, of one state. */
export function getBlockHeight(
  rpc: Rpc,
  options: { readonly commitment: Commitment },
): Promise<{ height: number; slot: number }> {
  // The question of that name answers without a slot.
  return rpc.ask('getEpochInfo', [options], (result) => {
    const { blockHeight, absoluteSlot } = fieldsOf(result);
    return { height: numberOf(blockHeight), slot: numberOf(absoluteSlot) };
  });
}

/** The software that a node runs, by its names and versions. */
export function getVersion(rpc: Rpc): Promise<object> {
  return rpc.ask('getVersion', [], fieldsOf);
}

/** What tells this ledger from every other. */
export function getGenesisHash(rpc: Rpc): Promise<string> {
  return rpc.ask('getGenesisHash', [], textOf);
}

/**
 * What transactions that write these accounts paid lately, one number for each of up to 150 blocks.
 *
 * @returns micro-lamports per compute unit
 */
export function getRecentPrioritizationFees(
  rpc: Rpc,
  writableAccounts: readonly string[],
): Promise<number[]> {
  return rpc.ask('getRecentPrioritizationFees', [writableAccounts], (result) =>
    listOf(result, (row) => numberOf(fieldsOf(row).prioritizationFee)),
  );
}
