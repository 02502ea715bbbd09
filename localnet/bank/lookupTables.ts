import { base58 } from '@scure/base';
import { ADDRESS_BYTES, type Runtime } from '../runtime/runtime.ts';
import { keyOf } from '../wire/addressText.ts';
import type { DecodedTransaction } from '../wire/transaction.ts';

/** The accounts that a transaction names through lookup tables, in its order. */
export interface LoadedAddresses {
  readonly writable: readonly Uint8Array[];
  readonly readonly: readonly Uint8Array[];
}

export const LOOKUP_TABLE_PROGRAM = base58.decode('AddressLookupTab1e1111111111111111111111111');
const TABLE_HEADER_BYTES = 56;
const NONE: LoadedAddresses = { writable: [], readonly: [] };

/** @returns undefined where a table or an entry of it is missing: the runtime says why */
export function loadAddresses(
  runtime: Runtime,
  { lookups }: Pick<DecodedTransaction, 'lookups'>,
): LoadedAddresses | undefined {
  if (lookups.length === 0) return NONE;
  const writable: Uint8Array[] = [];
  const readonly: Uint8Array[] = [];
  for (const { table, writableIndexes, readonlyIndexes } of lookups) {
    const account = runtime.account(table);
    if (!account || keyOf(account.owner) !== keyOf(LOOKUP_TABLE_PROGRAM)) return undefined;
    const entry = (index: number): Uint8Array =>
      account.data.subarray(
        TABLE_HEADER_BYTES + index * ADDRESS_BYTES,
        TABLE_HEADER_BYTES + (index + 1) * ADDRESS_BYTES,
      );
    writable.push(...[...writableIndexes].map(entry));
    readonly.push(...[...readonlyIndexes].map(entry));
  }
  const isWhole = [...writable, ...readonly].every(({ length }) => length === ADDRESS_BYTES);
  return isWhole ? { writable, readonly } : undefined;
}
