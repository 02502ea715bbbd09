import { base58 } from '@scure/base';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from '../../../programs/client/addresses.ts';
import { encodeBase58 } from '../../../programs/client/longBase58.ts';
import type { CompiledInstruction } from '../../../programs/client/wire/index.ts';
import { tokenAmount } from '../../bank/tokenBalances.ts';

/** Reads numbers and addresses from an instruction's data. */
interface Data {
  readonly kind: number;
  /** In bytes. */
  readonly length: number;
  u64(offset: number): bigint;
  u8(offset: number): number;
  address(offset: number): string;
}

const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';

/**
 * A parsed instruction, for the few that most wallets send. Others are bytes with their accounts'
 * addresses, as clusters return what they cannot parse.
 */
export function parseInstruction(
  { accounts, data, programIdIndex }: CompiledInstruction,
  keys: readonly string[],
  stackHeight: number,
): object {
  const programId = keys[programIdIndex] ?? '';
  const names = [...accounts].map((index) => keys[index] ?? '');
  const known = read(programId, names, data);
  if (known) return { ...known, programId, stackHeight };
  return { accounts: names, data: encodeBase58(data), programId, stackHeight };
}

function read(
  programId: string,
  accounts: readonly string[],
  bytes: Uint8Array,
): { program: string; parsed: object | string } | undefined {
  if (programId === MEMO_PROGRAM) {
    return { program: 'spl-memo', parsed: Buffer.from(bytes).toString('utf8') };
  }
  const known = PROGRAMS.get(programId);
  if (!known) return undefined;
  const { program, kinds, hasWideKind = false } = known;
  try {
    const data = readerOf(bytes, hasWideKind);
    const [type, names, more] = kinds[data.kind] ?? [];
    if (type === undefined || names === undefined) return undefined;
    const named = names.map((name, index) => [name, accounts[index]] as const);
    const info = [...named, ...Object.entries(more?.(data) ?? {})];
    // In the order of clusters.
    info.sort(([one], [other]) => (one < other ? -1 : 1));
    return { program, parsed: { type, info: Object.fromEntries(info) } };
  } catch (error) {
    // The data is too short for its kind, so the program refused it, too.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function readerOf(bytes: Uint8Array, hasWideKind: boolean): Data {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return {
    length: data.length,
    kind: hasWideKind ? data.readUInt32LE(0) : (data[0] ?? 0),
    u64: (offset) => data.readBigUInt64LE(offset),
    u8: (offset) => data.readUInt8(offset),
    address: (offset) => base58.encode(data.subarray(offset, offset + 32)),
  };
}

/** Instructions by their numbers: what each is called, what its accounts are, and what its data say. */
type Kinds = Readonly<
  Record<number, [type: string, accounts: readonly string[], more?: (data: Data) => object]>
>;

const SYSTEM: Kinds = {
  0: [
    'createAccount',
    ['source', 'newAccount'],
    (data) => ({
      lamports: Number(data.u64(4)),
      space: Number(data.u64(12)),
      owner: data.address(20),
    }),
  ],
  1: ['assign', ['account'], (data) => ({ owner: data.address(4) })],
  2: ['transfer', ['source', 'destination'], (data) => ({ lamports: Number(data.u64(4)) })],
  8: ['allocate', ['account'], (data) => ({ space: Number(data.u64(4)) })],
};

const amount = (data: Data) => ({ amount: String(data.u64(1)) });
const checked = (data: Data) => ({ tokenAmount: tokenAmount(data.u64(1), data.u8(9)) });

const TOKEN: Kinds = {
  3: ['transfer', ['source', 'destination', 'authority'], amount],
  4: ['approve', ['source', 'delegate', 'owner'], amount],
  5: ['revoke', ['source', 'owner']],
  7: ['mintTo', ['mint', 'account', 'mintAuthority'], amount],
  8: ['burn', ['account', 'mint', 'authority'], amount],
  9: ['closeAccount', ['account', 'destination', 'owner']],
  12: ['transferChecked', ['source', 'mint', 'destination', 'authority'], checked],
  14: ['mintToChecked', ['mint', 'account', 'mintAuthority'], checked],
  15: ['burnChecked', ['account', 'mint', 'authority'], checked],
  17: ['syncNative', ['account']],
  18: ['initializeAccount3', ['account', 'mint'], (data) => ({ owner: data.address(1) })],
  20: [
    'initializeMint2',
    ['mint'],
    (data) => ({
      decimals: data.u8(1),
      mintAuthority: data.address(2),
      // An option of one byte, then the address.
      ...(data.u8(34) === 1 && { freezeAuthority: data.address(35) }),
    }),
  ],
  21: [
    'getAccountDataSize',
    ['mint'],
    (data) => (data.length > 1 ? { extensionTypes: extensionsOf(data) } : {}),
  ],
  22: ['initializeImmutableOwner', ['account']],
};

const CREATED = ['source', 'account', 'wallet', 'mint', 'systemProgram', 'tokenProgram'];
const ASSOCIATED: Kinds = {
  0: ['create', CREATED],
  1: ['createIdempotent', CREATED],
};

const PROGRAMS = new Map<string, { program: string; kinds: Kinds; hasWideKind?: boolean }>([
  [SYSTEM_PROGRAM.toBase58(), { program: 'system', kinds: SYSTEM, hasWideKind: true }],
  [TOKEN_PROGRAM.toBase58(), { program: 'spl-token', kinds: TOKEN }],
  [
    ASSOCIATED_TOKEN_PROGRAM.toBase58(),
    { program: 'spl-associated-token-account', kinds: ASSOCIATED },
  ],
]);

/** The only Token-2022 extension that the associated token program requests. */
const EXTENSION_NAMES: Readonly<Record<number, string>> = { 7: 'immutableOwner' };
const EXTENSION_BYTES = 2;

function extensionsOf(data: Data): string[] {
  return Array.from({ length: Math.floor((data.length - 1) / EXTENSION_BYTES) }, (_, index) => {
    const extension = data.u8(1 + index * EXTENSION_BYTES);
    return EXTENSION_NAMES[extension] ?? `extension${extension}`;
  });
}
