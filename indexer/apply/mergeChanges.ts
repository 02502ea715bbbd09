import type { Change } from './change.ts';

/** All that several changes in a row did to one account. */
export interface MergedChange extends Pick<Change, 'table' | 'address' | 'values'> {
  /** The account's sequence before the first of them; 0 creates the account. */
  readonly sequenceBefore: bigint;
  readonly sequence: bigint;
  /** Workers only: whether it hosts each of these models afterwards. */
  readonly hosting: ReadonlyMap<string, boolean>;
}

/**
 * Makes one change of each account's: a change is a set of columns to overwrite, so only the last
 * value of each counts.
 *
 * @param changes an account's in the order of its sequence, without a gap
 */
export function mergeChanges(changes: readonly Change[]): MergedChange[] {
  const merged = new Map<string, MergedChange>();
  for (const { table, address, sequence, values, hosting } of changes) {
    const before = merged.get(address);
    const hosted = new Map(before?.hosting);
    if (hosting) hosted.set(hosting.model, hosting.hosts);
    merged.set(address, {
      ...{ table, address, sequence, hosting: hosted },
      values: { ...before?.values, ...values },
      sequenceBefore: before?.sequenceBefore ?? sequence - 1n,
    });
  }
  return [...merged.values()];
}
