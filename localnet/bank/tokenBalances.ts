import { base58 } from '@scure/base';
import { TOKEN_PROGRAM } from '../../programs/client/addresses.ts';
import { nameOfBytes, viewOf } from '../../programs/client/platform/bytes.ts';
import { MINT, TOKEN_ACCOUNT } from '../../programs/client/token/layout.ts';
import type { Account, Runtime } from '../runtime/runtime.ts';
import { addressText } from '../wire/text.ts';

/** A token account's balance in the form of clusters. */
export interface TokenBalance {
  readonly accountIndex: number;
  readonly mint: string;
  readonly owner: string;
  readonly programId: string;
  readonly uiTokenAmount: TokenAmount;
}

interface TokenAmount {
  /** In base units. */
  readonly amount: string;
  readonly decimals: number;
  readonly uiAmount: number | null;
  readonly uiAmountString: string;
}

const TOKEN_2022_PROGRAM = base58.decode('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');
const TOKEN_PROGRAMS = new Set([TOKEN_PROGRAM.toBytes(), TOKEN_2022_PROGRAM].map(nameOfBytes));

/** Token-2022 stores the kind of account after the base layout. */
const KIND_OFFSET = TOKEN_ACCOUNT.bytes;
const KIND_MINT = 1;
const KIND_ACCOUNT = 2;

export function isTokenProgram(address: Uint8Array): boolean {
  return TOKEN_PROGRAMS.has(nameOfBytes(address));
}

/** @returns undefined for anything but an account of a token program, of these bytes or this kind */
function dataOf(account: Account | null, bytes: number, kind: number): Uint8Array | undefined {
  if (!account || !isTokenProgram(account.owner)) return undefined;
  const { data } = account;
  const isLong = data.length > TOKEN_ACCOUNT.bytes && data[KIND_OFFSET] === kind;
  return data.length === bytes || isLong ? data : undefined;
}

/** A token account's fields; undefined for anything but an initialized one. */
export function tokenHolding(account: Account | null) {
  const data = dataOf(account, TOKEN_ACCOUNT.bytes, KIND_ACCOUNT);
  if (!account || !data || data[TOKEN_ACCOUNT.state] === 0) return undefined;
  return {
    mint: data.subarray(TOKEN_ACCOUNT.mint, TOKEN_ACCOUNT.owner),
    owner: data.subarray(TOKEN_ACCOUNT.owner, TOKEN_ACCOUNT.amount),
    amount: u64At(data, TOKEN_ACCOUNT.amount),
    programId: account.owner,
  };
}

/** A mint's fields; undefined for anything but an initialized one. */
export function mintState(account: Account | null) {
  const data = dataOf(account, MINT.bytes, KIND_MINT);
  if (data?.[MINT.isInitialized] !== 1) return undefined;
  return { supply: u64At(data, MINT.supply), decimals: data[MINT.decimals] ?? 0 };
}

/** An amount of tokens in the form of clusters: exact as text, rounded as a number. */
export function tokenAmount(amount: bigint, decimals: number): TokenAmount {
  const digits = String(amount).padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = decimals === 0 ? '' : digits.slice(-decimals).replace(/0+$/, '');
  const uiAmountString = fraction === '' ? whole : `${whole}.${fraction}`;
  return { amount: String(amount), decimals, uiAmount: Number(uiAmountString), uiAmountString };
}

/** The balances of the token accounts among these accounts. */
export function tokenBalances(
  runtime: Runtime,
  accounts: readonly (readonly [index: number, account: Account | null])[],
): TokenBalance[] {
  return accounts.flatMap(([accountIndex, account]) => {
    const holding = tokenHolding(account);
    if (!holding) return [];
    const decimals = mintState(runtime.account(holding.mint))?.decimals ?? 0;
    return [
      {
        accountIndex,
        mint: addressText(holding.mint),
        owner: addressText(holding.owner),
        programId: addressText(holding.programId),
        uiTokenAmount: tokenAmount(holding.amount, decimals),
      },
    ];
  });
}

/** The number of 64 bits at a place of an account's data. */
export function u64At(data: Uint8Array, offset: number): bigint {
  return viewOf(data).getBigUint64(offset, true);
}
