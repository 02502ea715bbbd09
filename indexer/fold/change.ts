import { type Cell, MIRROR_TABLES, type TableName } from '../../common/database/mirrorTables.ts';
import type { EventName } from '../../programs/client/events.ts';
import type { LedgerEvent } from './event.ts';

export type EventOf<Name extends EventName> = Extract<LedgerEvent, { name: Name }>;

/**
 * What one event did to one account. Events carry resulting values, so a change is a set of columns
 * to overwrite. It can be folded once the account's sequence is one less.
 */
export interface Change {
  readonly table: TableName;
  readonly address: string;
  /** The account's sequence afterwards; 1 creates the account. */
  readonly sequence: bigint;
  readonly values: Readonly<Record<string, Cell>>;
  /** Workers only: a model that this change adds to those it hosts, or removes. */
  readonly hosting?: { readonly model: string; readonly hosts: boolean };
}

/** All that several changes in a row did to one account. */
export interface MergedChange extends Pick<Change, 'table' | 'address' | 'values'> {
  /** The account's sequence before the first of them; 0 creates the account. */
  readonly sequenceBefore: bigint;
  readonly sequence: bigint;
  /** Workers only: whether it hosts each of these models afterwards. */
  readonly hosting: ReadonlyMap<string, boolean>;
}

/** A change does not follow the one before it. */
class GapError extends Error {
  override name = 'GapError';

  constructor(address: string, sequence: bigint) {
    super(`The changes of ${address} before its change ${sequence} are missing`);
  }
}

/**
 * Makes one change of each account's: a change is a set of columns to overwrite, so only the last
 * value of each counts.
 *
 * @param changes an account's in the order of its sequence, without a gap
 * @throws GapError where there is one
 */
export function mergeChanges(changes: readonly Change[]): MergedChange[] {
  const merged = new Map<string, ReturnType<typeof beginMerge>>();
  for (const change of changes) {
    const { address, sequence, hosting } = change;
    let account = merged.get(address);
    if (!account) {
      account = beginMerge(change);
      merged.set(address, account);
    }
    if (sequence !== account.sequence + 1n) throw new GapError(address, sequence);
    account.sequence = sequence;
    overwrite(account.values, change);
    if (hosting) account.hosting.set(hosting.model, hosting.hosts);
  }
  return [...merged.values()];
}

/** Overwrites a row's values by those of a change, but what does not change with it. */
export function overwrite(
  row: Record<string, unknown>,
  { table, values }: Pick<Change, 'table' | 'values'>,
): void {
  const kept = MIRROR_TABLES[table].paired
    .filter(([column, other]) => row[column] !== undefined && row[other] === values[other])
    .map(([column]) => [column, row[column]]);
  Object.assign(row, values, Object.fromEntries(kept));
}

function beginMerge({ table, address, sequence }: Change) {
  return {
    table,
    address,
    sequence: sequence - 1n,
    sequenceBefore: sequence - 1n,
    values: {} as Record<string, Cell>,
    hosting: new Map<string, boolean>(),
  };
}
