import { nameOfBytes } from '../../../programs/client/platform/bytes.ts';
import {
  INITIALIZED,
  MINT,
  OPTION_BYTES,
  TOKEN_ACCOUNT,
  TOKEN_ACCOUNT_STATES,
} from '../../../programs/client/token/layout.ts';
import {
  isTokenProgram,
  mintState,
  tokenAmount,
  tokenHolding,
  u64At,
} from '../../bank/tokenBalances.ts';
import {
  type Account,
  ADDRESS_BYTES,
  RENT_EPOCH_NEVER,
  type Runtime,
} from '../../runtime/runtime.ts';
import { addressText } from '../../wire/text.ts';

/** The parsed accounts of the token program, for `jsonParsed`; undefined for all others. */
export function parseTokenData(runtime: Runtime, account: Account): object | undefined {
  if (!isTokenProgram(account.owner)) return undefined;
  const parsed = parseHolding(runtime, account) ?? parseMint(account);
  if (!parsed) return undefined;
  const isClassic = addressText(account.owner).startsWith('TokenkegQ');
  return {
    parsed,
    program: isClassic ? 'spl-token' : 'spl-token-2022',
    space: account.data.length,
  };
}

function parseHolding(runtime: Runtime, account: Account): object | undefined {
  const holding = tokenHolding(account);
  if (!holding) return undefined;
  const { data } = account;
  const decimals = mintState(runtime.account(holding.mint))?.decimals ?? 0;
  const isNative = hasOption(data, TOKEN_ACCOUNT.nativeReserve);
  const delegate = optionalAddress(data, TOKEN_ACCOUNT.delegate);
  const closeAuthority = optionalAddress(data, TOKEN_ACCOUNT.closeAuthority);
  const info = {
    ...(closeAuthority !== undefined && { closeAuthority }),
    ...(delegate !== undefined && {
      delegate,
      delegatedAmount: tokenAmount(u64At(data, TOKEN_ACCOUNT.delegatedAmount), decimals),
    }),
    isNative,
    mint: addressText(holding.mint),
    owner: addressText(holding.owner),
    ...(isNative && {
      rentExemptReserve: tokenAmount(
        u64At(data, TOKEN_ACCOUNT.nativeReserve + OPTION_BYTES),
        decimals,
      ),
    }),
    state: TOKEN_ACCOUNT_STATES[data[TOKEN_ACCOUNT.state] ?? 0],
    tokenAmount: tokenAmount(holding.amount, decimals),
  };
  return { info, type: 'account' };
}

function parseMint(account: Account): object | undefined {
  const mint = mintState(account);
  if (!mint || account.data.length < MINT.bytes) return undefined;
  const { data } = account;
  const info = {
    decimals: mint.decimals,
    freezeAuthority: optionalAddress(data, MINT.freezeAuthority) ?? null,
    isInitialized: true,
    mintAuthority: optionalAddress(data, MINT.authority) ?? null,
    supply: String(mint.supply),
  };
  return { info, type: 'mint' };
}

/** The delegate of a token account; undefined: none. */
export function delegateOf({ data }: Account): string | undefined {
  const delegate = optionalAddress(data, TOKEN_ACCOUNT.delegate);
  return delegate === undefined ? undefined : nameOfBytes(addressAt(data, TOKEN_ACCOUNT.delegate));
}

function optionalAddress(data: Uint8Array, offset: number): string | undefined {
  return hasOption(data, offset) ? addressText(addressAt(data, offset)) : undefined;
}

function addressAt(data: Uint8Array, offset: number): Uint8Array {
  return data.subarray(offset + OPTION_BYTES, offset + OPTION_BYTES + ADDRESS_BYTES);
}

function hasOption(data: Uint8Array, offset: number): boolean {
  return data[offset] === 1;
}

/** A token account with another amount, or a new one. Amounts are in base units. */
export function tokenAccountOf(
  runtime: Runtime,
  holding: {
    before: Account | null;
    mint: Uint8Array;
    owner: Uint8Array;
    programId: Uint8Array;
    amount: bigint;
  },
): Account {
  const { before, mint, owner, programId, amount } = holding;
  const data = before ? Buffer.from(before.data) : Buffer.alloc(TOKEN_ACCOUNT.bytes);
  if (!before) {
    data.set(mint, TOKEN_ACCOUNT.mint);
    data.set(owner, TOKEN_ACCOUNT.owner);
    data.writeUInt8(INITIALIZED, TOKEN_ACCOUNT.state);
  }
  data.writeBigUInt64LE(amount, TOKEN_ACCOUNT.amount);
  return {
    lamports: before?.lamports ?? runtime.rentExemptLamports(data.length),
    data,
    owner: programId,
    executable: false,
    rentEpoch: RENT_EPOCH_NEVER,
  };
}

/** A mint with another supply, in base units. */
export function mintWith(mint: Account, supply: bigint): Account {
  const data = Buffer.from(mint.data);
  data.writeBigUInt64LE(supply, MINT.supply);
  return { ...mint, data };
}
