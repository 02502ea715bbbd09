import {
  isTokenProgram,
  MINT_BYTES,
  mintState,
  tokenAmount,
  tokenHolding,
} from '../../bank/tokenBalances.ts';
import type { Account, Runtime } from '../../runtime/runtime.ts';
import { addressText, keyOf } from '../../wire/addressText.ts';

/** Token account: delegate option u32 and key, state u8, native option u32 and reserve u64, … */
const DELEGATE_OFFSET = 72;
const STATE_OFFSET = 108;
const NATIVE_OFFSET = 109;
const DELEGATED_OFFSET = 121;
const CLOSE_AUTHORITY_OFFSET = 129;
const STATES = ['uninitialized', 'initialized', 'frozen'];
/** Mint: authority option u32 and key, supply, decimals, initialized, freeze authority option. */
const FREEZE_AUTHORITY_OFFSET = 46;
const OPTION_BYTES = 4;
const ADDRESS_BYTES = 32;

/** The token program's accounts in words, as `jsonParsed` asks for; undefined for all others. */
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
  const isNative = hasOption(data, NATIVE_OFFSET);
  const delegate = optionalAddress(data, DELEGATE_OFFSET);
  const closeAuthority = optionalAddress(data, CLOSE_AUTHORITY_OFFSET);
  const info = {
    ...(closeAuthority !== undefined && { closeAuthority }),
    ...(delegate !== undefined && {
      delegate,
      delegatedAmount: tokenAmount(u64At(data, DELEGATED_OFFSET), decimals),
    }),
    isNative,
    mint: addressText(holding.mint),
    owner: addressText(holding.owner),
    ...(isNative && {
      rentExemptReserve: tokenAmount(u64At(data, NATIVE_OFFSET + OPTION_BYTES), decimals),
    }),
    state: STATES[data[STATE_OFFSET] ?? 0],
    tokenAmount: tokenAmount(holding.amount, decimals),
  };
  return { info, type: 'account' };
}

function parseMint(account: Account): object | undefined {
  const mint = mintState(account);
  if (!mint || account.data.length < MINT_BYTES) return undefined;
  const { data } = account;
  const info = {
    decimals: mint.decimals,
    freezeAuthority: optionalAddress(data, FREEZE_AUTHORITY_OFFSET) ?? null,
    isInitialized: true,
    mintAuthority: optionalAddress(data, 0) ?? null,
    supply: String(mint.supply),
  };
  return { info, type: 'mint' };
}

/** Whom a token account's owner allows to spend from it; undefined: nobody. */
export function delegateOf({ data }: Account): string | undefined {
  const delegate = optionalAddress(data, DELEGATE_OFFSET);
  return delegate === undefined ? undefined : keyOf(addressAt(data, DELEGATE_OFFSET));
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

function u64At(data: Uint8Array, offset: number): bigint {
  return new DataView(data.buffer, data.byteOffset, data.length).getBigUint64(offset, true);
}
