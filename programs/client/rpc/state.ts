import { type AtSlot, atSlot, fieldsOf, listOf, numberOf, orNull, textOf } from './answers.ts';
import type { Rpc } from './rpc.ts';

/** How sure a ledger is of what it tells. */
export type Commitment = 'processed' | 'confirmed' | 'finalized';

export interface Account {
  readonly lamports: number;
  /** The address of the program that may write it. */
  readonly owner: string;
  readonly data: Buffer;
  readonly executable: boolean;
}

interface AccountOptions {
  readonly commitment: Commitment;
  /** The node refuses to answer from a state older than this slot. */
  readonly minContextSlot?: number;
  /** Of each account's bytes, no more than these. */
  readonly dataSlice?: { readonly offset: number; readonly length: number };
}

/** An account; null where there is none. */
export function getAccountInfo(
  rpc: Rpc,
  address: string,
  options: AccountOptions,
): Promise<AtSlot<Account | null>> {
  return rpc.ask('getAccountInfo', [address, inBase64(options)], atSlot(orNull(accountOf)));
}

/** What an account holds, in lamports; 0 where there is none. */
export async function getBalance(
  rpc: Rpc,
  address: string,
  options: { readonly commitment: Commitment },
): Promise<number> {
  const { value } = await rpc.ask('getBalance', [address, options], atSlot(numberOf));
  return value;
}

/** Up to 100 accounts of one state, in the order of their addresses. */
export function getMultipleAccounts(
  rpc: Rpc,
  addresses: readonly string[],
  options: AccountOptions,
): Promise<AtSlot<(Account | null)[]>> {
  const read = atSlot((value) => listOf(value, orNull(accountOf)));
  return rpc.ask('getMultipleAccounts', [addresses, inBase64(options)], read);
}

/** Every account of a program that passes the filters, in no particular order. */
export function getProgramAccounts(
  rpc: Rpc,
  programId: string,
  options: AccountOptions & { readonly filters?: readonly object[] },
): Promise<AtSlot<{ address: string; account: Account }[]>> {
  const read = atSlot((value) =>
    listOf(value, (item) => {
      const { pubkey, account } = fieldsOf(item);
      return { address: textOf(pubkey), account: accountOf(account) };
    }),
  );
  return rpc.ask(
    'getProgramAccounts',
    [programId, { ...inBase64(options), withContext: true }],
    read,
  );
}

const inBase64 = <Options extends object>(options: Options) => ({ ...options, encoding: 'base64' });

function accountOf(value: unknown): Account {
  const { lamports, owner, data, executable } = fieldsOf(value);
  const [text] = listOf(data, textOf);
  return {
    lamports: numberOf(lamports),
    owner: textOf(owner),
    data: Buffer.from(textOf(text), 'base64'),
    executable: executable === true,
  };
}

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
