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
import { type Account, ADDRESS_BYTES, EMPTY_ACCOUNT, type Runtime } from '../../runtime/runtime.ts';
import { addressText } from '../../wire/text.ts';

/** The parsed accounts of the token program, for `jsonParsed`; undefined for all others. */
export function parseTokenData(runtime: Runtime, account: Account): object | undefined {
  if (!isTokenProgram(account.owner)) return undefined;
  const parsed = parseHolding(runtime, account) ?? parseMint(account);
  if (!parsed) return undefined;
  const isClassic = addressText(account.owner).startsWith('TokenkegQ');
  const program = isClassic ? 'spl-token' : 'spl-token-2022';
  return { parsed, program, space: account.data.length };
}

function parseHolding(runtime: Runtime, account: Account): object | undefined {
  const holding = tokenHolding(account);
  if (!holding) return undefined;
  const { data } = account;
  const decimals = mintState(runtime.account(holding.mint))?.decimals ?? 0;
  const isNative = hasOption(data, TOKEN_ACCOUNT.nativeReserve);
  const delegate = delegateOf(account);
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

/** The delegate of a token account, in base58; undefined: none. */
export function delegateOf({ data }: Account): string | undefined {
  return optionalAddress(data, TOKEN_ACCOUNT.delegate);
}

function optionalAddress(data: Uint8Array, offset: number): string | undefined {
  const start = offset + OPTION_BYTES;
  const bytes = data.subarray(start, start + ADDRESS_BYTES);
  return hasOption(data, offset) ? addressText(bytes) : undefined;
}

function hasOption(data: Uint8Array, offset: number): boolean {
  return data[offset] === 1;
}

/** An empty token account of a token program. */
export function newTokenAccount(
  runtime: Runtime,
  token: { mint: Uint8Array; owner: Uint8Array; programId: Uint8Array },
): Account {
  const data = new Uint8Array(TOKEN_ACCOUNT.bytes);
  data.set(token.mint, TOKEN_ACCOUNT.mint);
  data.set(token.owner, TOKEN_ACCOUNT.owner);
  data[TOKEN_ACCOUNT.state] = INITIALIZED;
  const lamports = runtime.rentExemptLamports(data.length);
  return { ...EMPTY_ACCOUNT, lamports, data, owner: token.programId };
}

/** A token account with another amount, in base units. */
export const withAmount = (account: Account, amount: bigint): Account =>
  withNumber(account, TOKEN_ACCOUNT.amount, amount);

/** A mint with another supply, in base units. */
export const withSupply = (mint: Account, supply: bigint): Account =>
  withNumber(mint, MINT.supply, supply);

function withNumber(account: Account, offset: number, number: bigint): Account {
  const data = Buffer.from(account.data);
  data.writeBigUInt64LE(number, offset);
  return { ...account, data };
}
