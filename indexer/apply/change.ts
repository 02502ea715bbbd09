import type { Addresses } from '../../programs/client/addresses.ts';
import type { EventName } from '../../programs/client/events.ts';
import type { LedgerEvent } from '../decode.ts';
import type { TableName, Tables } from './tables.ts';

/**
 * What one event did to one account. Events carry resulting values, so a change is a set of columns
 * to overwrite, and folding it needs nothing but the account's sequence to be one less.
 */
export interface Change {
  readonly table: TableName;
  readonly address: string;
  /** The account's sequence afterwards; 1 creates the account. */
  readonly sequence: bigint;
  readonly values: Readonly<Record<string, unknown>>;
  /** Workers only: a model that this change adds to those it hosts, or takes away. */
  readonly hosting?: { readonly model: string; readonly hosts: boolean };
}

export type EventOf<Name extends EventName> = Extract<LedgerEvent, { name: Name }>;

/** The changes that one kind of event stands for: one for every account whose sequence it moved. */
export type Fold<Name extends EventName> = (
  event: EventOf<Name>,
  addresses: Addresses,
) => readonly Change[];

/** The change that creates an account, by all columns of its table. */
export function creation<Table extends TableName>(
  table: Table,
  address: string,
  values: Tables[Table],
): Change {
  return { table, address, sequence: 1n, values };
}

/** A change of an account that exists, by the columns that it overwrites. */
export function update<Table extends TableName>(
  table: Table,
  account: { address: string; sequence: string | number },
  values: Partial<Tables[Table]>,
): Change {
  return { table, address: account.address, sequence: BigInt(account.sequence), values };
}
