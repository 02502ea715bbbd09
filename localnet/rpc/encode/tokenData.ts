import {
  isTokenProgram,
  MINT_BYTES,
  mintState,
  TOKEN_ACCOUNT_BYTES,
  tokenAmount,
  tokenHolding,
} from '../../bank/tokenBalances.ts';
import { type Account, RENT_EPOCH_NEVER, type Runtime } from '../../runtime/runtime.ts';
import { addressText, keyOf } from '../../wire/text.ts';

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

/** Token account: mint, owner, amount, …, state. Mint: authority option and key, supply. */
const OWNER_OFFSET = 32;
const AMOUNT_OFFSET = 64;
const WRITTEN_STATE_OFFSET = 108;
const INITIALIZED = 1;
const SUPPLY_OFFSET = 36;

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
  const data = before ? Buffer.from(before.data) : Buffer.alloc(TOKEN_ACCOUNT_BYTES);
  if (!before) {
    data.set(mint, 0);
    data.set(owner, OWNER_OFFSET);
    data.writeUInt8(INITIALIZED, WRITTEN_STATE_OFFSET);
  }
  data.writeBigUInt64LE(amount, AMOUNT_OFFSET);
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
  data.writeBigUInt64LE(supply, SUPPLY_OFFSET);
  return { ...mint, data };
}
