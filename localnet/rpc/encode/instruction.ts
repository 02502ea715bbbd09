import { base58 } from '@scure/base';
import { ASSOCIATED_TOKEN_PROGRAM, TOKEN_PROGRAM } from '../../../programs/client/addresses.ts';
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

interface Parsed {
  readonly type: string;
  readonly info: object;
}

const SYSTEM_PROGRAM = '11111111111111111111111111111111';
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
  return { accounts: names, data: base58.encode(data), programId, stackHeight };
}

function read(
  programId: string,
  accounts: readonly string[],
  bytes: Uint8Array,
): { program: string; parsed: Parsed | string } | undefined {
  if (programId === MEMO_PROGRAM) {
    return { program: 'spl-memo', parsed: Buffer.from(bytes).toString('utf8') };
  }
  const parsers: Record<string, [string, (accounts: readonly string[], data: Data) => unknown]> = {
    [SYSTEM_PROGRAM]: ['system', parseSystem],
    [TOKEN_PROGRAM.toBase58()]: ['spl-token', parseToken],
    [ASSOCIATED_TOKEN_PROGRAM.toBase58()]: ['spl-associated-token-account', parseAssociated],
  };
  const [program, parse] = parsers[programId] ?? [];
  if (!program || !parse) return undefined;
  try {
    const parsed = parse(accounts, readerOf(bytes, programId === SYSTEM_PROGRAM)) as Parsed;
    return parsed && { program, parsed };
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

function parseSystem(accounts: readonly string[], data: Data): Parsed | undefined {
  const [first, second] = accounts;
  switch (data.kind) {
    case 0:
      return {
        type: 'createAccount',
        info: {
          lamports: Number(data.u64(4)),
          newAccount: second,
          owner: data.address(20),
          source: first,
          space: Number(data.u64(12)),
        },
      };
    case 1:
      return { type: 'assign', info: { account: first, owner: data.address(4) } };
    case 2:
      return {
        type: 'transfer',
        info: { destination: second, lamports: Number(data.u64(4)), source: first },
      };
    case 8:
      return { type: 'allocate', info: { account: first, space: Number(data.u64(4)) } };
    default:
      return undefined;
  }
}

function parseToken(accounts: readonly string[], data: Data): Parsed | undefined {
  const [first, second, third, fourth] = accounts;
  const amount = () => String(data.u64(1));
  const checked = () => tokenAmount(data.u64(1), data.u8(9));
  switch (data.kind) {
    case 3:
      return {
        type: 'transfer',
        info: { amount: amount(), authority: third, destination: second, source: first },
      };
    case 4:
      return {
        type: 'approve',
        info: { amount: amount(), delegate: second, owner: third, source: first },
      };
    case 5:
      return { type: 'revoke', info: { owner: second, source: first } };
    case 7:
      return {
        type: 'mintTo',
        info: { account: second, amount: amount(), mint: first, mintAuthority: third },
      };
    case 8:
      return {
        type: 'burn',
        info: { account: first, amount: amount(), authority: third, mint: second },
      };
    case 9:
      return { type: 'closeAccount', info: { account: first, destination: second, owner: third } };
    case 12:
      return {
        type: 'transferChecked',
        info: {
          authority: fourth,
          destination: third,
          mint: second,
          source: first,
          tokenAmount: checked(),
        },
      };
    case 14:
      return {
        type: 'mintToChecked',
        info: { account: second, mint: first, mintAuthority: third, tokenAmount: checked() },
      };
    case 15:
      return {
        type: 'burnChecked',
        info: { account: first, authority: third, mint: second, tokenAmount: checked() },
      };
    default:
      return parseTokenSetUp(accounts, data);
  }
}

/** The token instructions that prepare an account or a mint. */
function parseTokenSetUp(accounts: readonly string[], data: Data): Parsed | undefined {
  const [first, second] = accounts;
  switch (data.kind) {
    case 17:
      return { type: 'syncNative', info: { account: first } };
    case 18:
      return {
        type: 'initializeAccount3',
        info: { account: first, mint: second, owner: data.address(1) },
      };
    case 20:
      return {
        type: 'initializeMint2',
        info: {
          decimals: data.u8(1),
          // An option of one byte, then the address.
          ...(data.u8(34) === 1 && { freezeAuthority: data.address(35) }),
          mint: first,
          mintAuthority: data.address(2),
        },
      };
    case 21:
      return {
        type: 'getAccountDataSize',
        info: { ...(data.length > 1 && { extensionTypes: extensionsOf(data) }), mint: first },
      };
    case 22:
      return { type: 'initializeImmutableOwner', info: { account: first } };
    default:
      return undefined;
  }
}

/** The only Token-2022 extension that the associated token program requests. */
const EXTENSION_NAMES: Readonly<Record<number, string>> = { 7: 'immutableOwner' };
const EXTENSION_BYTES = 2;

function extensionsOf(data: Data): string[] {
  return Array.from({ length: Math.floor((data.length - 1) / EXTENSION_BYTES) }, (_, index) => {
    const extension = data.u8(1 + index * EXTENSION_BYTES);
    return EXTENSION_NAMES[extension] ?? `extension${extension}`;
  });
}

function parseAssociated(accounts: readonly string[], data: Data): Parsed | undefined {
  const [source, account, wallet, mint, systemProgram, tokenProgram] = accounts;
  const types = ['create', 'createIdempotent'];
  const type = types[data.kind];
  if (type === undefined) return undefined;
  return { type, info: { account, mint, source, systemProgram, tokenProgram, wallet } };
}
