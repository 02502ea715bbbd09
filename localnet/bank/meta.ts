import { base58 } from '@scure/base';
import { encodeBase58 } from '../../programs/client/longBase58.ts';
import { nameOfBytes } from '../../programs/client/platform/bytes.ts';
import type { DecodedTransaction } from '../../programs/client/wire/index.ts';
import {
  ADDRESS_BYTES,
  type Execution,
  type InnerInstruction,
  type Runtime,
} from '../runtime/runtime.ts';
import { addressText, exact } from '../wire/text.ts';
import type { TokenBalance } from './tokenBalances.ts';

/** The accounts that a transaction loads from lookup tables, in its order. */
interface LoadedAddresses {
  readonly writable: readonly Uint8Array[];
  readonly readonly: readonly Uint8Array[];
}

export const LOOKUP_TABLE_PROGRAM = base58.decode('AddressLookupTab1e1111111111111111111111111');
const TABLE_HEADER_BYTES = 56;
const NONE: LoadedAddresses = { writable: [], readonly: [] };

/** @returns undefined when a table or an entry is missing; the runtime reports the error */
export function loadAddresses(
  runtime: Runtime,
  { lookups }: Pick<DecodedTransaction, 'lookups'>,
): LoadedAddresses | undefined {
  if (lookups.length === 0) return NONE;
  const writable: Uint8Array[] = [];
  const readonly: Uint8Array[] = [];
  for (const { table, writableIndexes, readonlyIndexes } of lookups) {
    const account = runtime.account(table);
    if (!account || nameOfBytes(account.owner) !== nameOfBytes(LOOKUP_TABLE_PROGRAM))
      return undefined;
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

const MEMO_PROGRAMS = new Set(
  [
    'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
    'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  ].map((address) => nameOfBytes(base58.decode(address))),
);

/** A transaction's memos in the form of clusters: each after its length in bytes. */
export function memoOf({ keys, instructions }: DecodedTransaction): string | null {
  const memos = instructions
    .filter(({ programIdIndex }) =>
      MEMO_PROGRAMS.has(nameOfBytes(keys[programIdIndex] as Uint8Array)),
    )
    .map(({ data }) => `[${data.length}] ${Buffer.from(data).toString('utf8')}`);
  return memos.length === 0 ? null : memos.join('; ');
}

/** Balances before and after a transaction. */
interface Effects {
  readonly fee: bigint;
  /** Lamports by account, before and after. */
  readonly lamports: readonly [before: readonly bigint[], after: readonly bigint[]];
  readonly tokens: readonly [before: TokenBalance[], after: TokenBalance[]];
  readonly loaded: LoadedAddresses;
}

/** A transaction's `meta` in the form of clusters. */
export function metaOf(execution: Execution, effects: Effects): object {
  const { err, logs, innerInstructions, computeUnits, returnData } = execution;
  return {
    computeUnitsConsumed: computeUnits,
    err,
    fee: exact(effects.fee),
    innerInstructions: innerInstructionsOf(innerInstructions),
    loadedAddresses: {
      readonly: effects.loaded.readonly.map(addressText),
      writable: effects.loaded.writable.map(addressText),
    },
    logMessages: logs,
    postBalances: effects.lamports[1].map(exact),
    postTokenBalances: effects.tokens[1],
    preBalances: effects.lamports[0].map(exact),
    preTokenBalances: effects.tokens[0],
    ...(returnData !== null && { returnData: returnDataOf(returnData) }),
    rewards: [],
    status: err === null ? { Ok: null } : { Err: err },
  };
}

/** Lists only instructions that called others. */
export function innerInstructionsOf(
  byInstruction: readonly (readonly InnerInstruction[])[],
): object[] {
  return byInstruction.flatMap((calls, index) => {
    if (calls.length === 0) return [];
    const instructions = calls.map(({ programIdIndex, accounts, data, stackHeight }) => ({
      programIdIndex,
      accounts: [...accounts],
      data: encodeBase58(data),
      stackHeight,
    }));
    return [{ index, instructions }];
  });
}

export function returnDataOf(returned: NonNullable<Execution['returnData']>): object {
  return {
    programId: addressText(returned.programId),
    data: [Buffer.from(returned.data).toString('base64'), 'base64'],
  };
}
