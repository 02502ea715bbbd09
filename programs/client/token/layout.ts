import { PublicKey } from '#platform';
import { viewOf } from '../platform/bytes.ts';

const KEY_BYTES = 32;
/** An optional key or number is preceded by a u32 that is 1 where there is one. */
export const OPTION_BYTES = 4;

/** Where the fields of the SPL Token program's account begin. Token-2022 begins its own likewise. */
export const TOKEN_ACCOUNT = {
  bytes: 165,
  mint: 0,
  owner: 32,
  amount: 64,
  /** Optional. */
  delegate: 72,
  state: 108,
  /** Optional: the rent in lamports of an account that holds wrapped SOL. */
  nativeReserve: 109,
  delegatedAmount: 121,
  /** Optional. */
  closeAuthority: 129,
} as const;

/** Where the fields of the SPL Token program's mint begin. */
export const MINT = {
  bytes: 82,
  /** Optional. */
  authority: 0,
  supply: 36,
  decimals: 44,
  isInitialized: 45,
  /** Optional. */
  freezeAuthority: 46,
} as const;

/** The states of a token account, by their numbers. */
export const TOKEN_ACCOUNT_STATES = ['uninitialized', 'initialized', 'frozen'] as const;
export const INITIALIZED: number = TOKEN_ACCOUNT_STATES.indexOf('initialized');
export const FROZEN: number = TOKEN_ACCOUNT_STATES.indexOf('frozen');

/** A token account of the SPL Token program. Amounts are in base units. */
export interface TokenAccount {
  readonly mint: PublicKey;
  readonly owner: PublicKey;
  readonly amount: bigint;
  /** An index into TOKEN_ACCOUNT_STATES. */
  readonly state: number;
  readonly delegate: PublicKey | null;
  readonly delegatedAmount: bigint;
  /** In lamports; null where the account holds no wrapped SOL. */
  readonly nativeReserve: bigint | null;
  readonly closeAuthority: PublicKey | null;
}

/**
 * Reads the data of a token account.
 *
 * @throws RangeError when these are not the bytes of one
 */
export function decodeTokenAccount(bytes: Uint8Array): TokenAccount {
  if (bytes.length !== TOKEN_ACCOUNT.bytes) {
    throw new RangeError(`A token account has ${TOKEN_ACCOUNT.bytes} bytes, not ${bytes.length}`);
  }
  const view = viewOf(bytes);
  const keyAt = (at: number) => new PublicKey(bytes.subarray(at, at + KEY_BYTES));
  const optional = <Value>(at: number, read: (at: number) => Value): Value | null =>
    view.getUint32(at, true) === 0 ? null : read(at + OPTION_BYTES);
  return {
    mint: keyAt(TOKEN_ACCOUNT.mint),
    owner: keyAt(TOKEN_ACCOUNT.owner),
    amount: view.getBigUint64(TOKEN_ACCOUNT.amount, true),
    state: view.getUint8(TOKEN_ACCOUNT.state),
    delegate: optional(TOKEN_ACCOUNT.delegate, keyAt),
    delegatedAmount: view.getBigUint64(TOKEN_ACCOUNT.delegatedAmount, true),
    nativeReserve: optional(TOKEN_ACCOUNT.nativeReserve, (at) => view.getBigUint64(at, true)),
    closeAuthority: optional(TOKEN_ACCOUNT.closeAuthority, keyAt),
  };
}

/** The data of such a token account, for ledgers whose accounts may be written. */
export function encodeTokenAccount(account: TokenAccount): Uint8Array {
  const bytes = new Uint8Array(TOKEN_ACCOUNT.bytes);
  const view = viewOf(bytes);
  bytes.set(account.mint.toBytes(), TOKEN_ACCOUNT.mint);
  bytes.set(account.owner.toBytes(), TOKEN_ACCOUNT.owner);
  view.setBigUint64(TOKEN_ACCOUNT.amount, account.amount, true);
  view.setUint8(TOKEN_ACCOUNT.state, account.state);
  view.setBigUint64(TOKEN_ACCOUNT.delegatedAmount, account.delegatedAmount, true);
  const { delegate, nativeReserve, closeAuthority } = account;
  if (delegate) setOption(bytes, TOKEN_ACCOUNT.delegate, delegate.toBytes());
  if (closeAuthority) setOption(bytes, TOKEN_ACCOUNT.closeAuthority, closeAuthority.toBytes());
  if (nativeReserve !== null) {
    setOption(bytes, TOKEN_ACCOUNT.nativeReserve);
    view.setBigUint64(TOKEN_ACCOUNT.nativeReserve + OPTION_BYTES, nativeReserve, true);
  }
  return bytes;
}

/** The data of a mint without mint or freeze authority. The supply is in base units. */
export function encodeMint(decimals: number, supply = 0n): Uint8Array {
  const bytes = new Uint8Array(MINT.bytes);
  viewOf(bytes).setBigUint64(MINT.supply, supply, true);
  bytes[MINT.decimals] = decimals;
  bytes[MINT.isInitialized] = 1;
  return bytes;
}

function setOption(bytes: Uint8Array, at: number, value: Uint8Array = new Uint8Array()): void {
  viewOf(bytes).setUint32(at, 1, true);
  bytes.set(value, at + OPTION_BYTES);
}
