import { concatBytes } from '../platform/bytes.ts';

/** The versions of a message that this client reads and writes. */
export type MessageVersion = 'legacy' | 0 | 1;

/** How many keys sign, and how many of the signers and of the others are only read. */
export interface MessageHeader {
  readonly numRequiredSignatures: number;
  readonly numReadonlySignedAccounts: number;
  readonly numReadonlyUnsignedAccounts: number;
}

/** Indices refer to the message's keys, then to those that its lookup tables load. */
export interface CompiledInstruction {
  readonly programIdIndex: number;
  readonly accounts: Uint8Array;
  readonly data: Uint8Array;
}

export interface TableLookup {
  readonly table: Uint8Array;
  readonly writableIndexes: Uint8Array;
  readonly readonlyIndexes: Uint8Array;
}

/** What a message of version 1 asks for itself, where others have compute budget instructions. */
export interface TransactionConfig {
  /** In all, whatever units are used. */
  readonly priorityFeeLamports?: bigint;
  readonly computeUnitLimit?: number;
  readonly loadedAccountsDataSizeLimit?: number;
  readonly heapSize?: number;
}

/** What the signers of a transaction sign. Keys and blockhash are their 32 bytes. */
export interface Message {
  readonly version: MessageVersion;
  readonly header: MessageHeader;
  /** Writable signers, other signers, writable accounts, all others. */
  readonly keys: readonly Uint8Array[];
  readonly recentBlockhash: Uint8Array;
  readonly instructions: readonly CompiledInstruction[];
  /** Of version 0 alone. */
  readonly lookups: readonly TableLookup[];
  /** Of version 1 alone. */
  readonly config: TransactionConfig;
}

/** A transaction as the ledger's network carries it. All its bytes are views of `wire`. */
export interface DecodedTransaction extends Message {
  readonly wire: Uint8Array;
  readonly signatures: readonly Uint8Array[];
  /** The signed bytes. */
  readonly message: Uint8Array;
}

export const KEY_BYTES = 32;
export const SIGNATURE_BYTES = 64;
/** Set in the first byte of every message but a legacy one, whose first byte counts its signers. */
export const VERSION_FLAG = 0x80;
const TRANSACTION_BYTES_MAX = { legacy: 1_232, 0: 1_232, 1: 4_096 };

/** What the ledger takes: a packet, or since version 1 (SIMD-0385) more than three. */
export function transactionBytesMax(version: MessageVersion): number {
  return TRANSACTION_BYTES_MAX[version];
}

/** The fields of a config in the order of their bits, each bit standing for four bytes (SIMD-0385). */
export const CONFIG_FIELDS = [
  { name: 'priorityFeeLamports', mask: 0b11 },
  { name: 'computeUnitLimit', mask: 0b100 },
  { name: 'loadedAccountsDataSizeLimit', mask: 0b1000 },
  { name: 'heapSize', mask: 0b10000 },
] as const satisfies readonly { name: keyof TransactionConfig; mask: number }[];

/** Whether an instruction may change the account at this index. */
export function isWritable(
  { header, keys, lookups }: Pick<Message, 'header' | 'keys' | 'lookups'>,
  index: number,
): boolean {
  const { numRequiredSignatures: signers } = header;
  if (index < signers) return index < signers - header.numReadonlySignedAccounts;
  if (index < keys.length) return index < keys.length - header.numReadonlyUnsignedAccounts;
  const loadedWritable = lookups.reduce((sum, lookup) => sum + lookup.writableIndexes.length, 0);
  return index < keys.length + loadedWritable;
}

/**
 * The bytes that are signed.
 *
 * @throws RangeError for a number that its place cannot hold; wrapped it would name another account
 */
export function encodeMessage(message: Message): Uint8Array {
  return message.version === 1 ? encodeV1(message) : encodeCounted(message);
}

/** The transaction as the ledger's network carries it, version 1 with its signatures last. */
export function encodeTransaction(
  { version }: Pick<Message, 'version'>,
  message: Uint8Array,
  signatures: readonly Uint8Array[],
): Uint8Array {
  return version === 1
    ? concatBytes(message, ...signatures)
    : concatBytes(countOf(signatures.length), ...signatures, message);
}

function encodeCounted({
  version,
  header,
  keys,
  recentBlockhash,
  instructions,
  lookups,
}: Message): Uint8Array {
  const parts = [
    ...(version === 0 ? [Uint8Array.of(VERSION_FLAG)] : []),
    headerBytes(header),
    countOf(keys.length),
    ...keys,
    recentBlockhash,
    countOf(instructions.length),
  ];
  for (const { programIdIndex, accounts, data } of instructions) {
    parts.push(byteOf(programIdIndex), countOf(accounts.length), accounts);
    parts.push(countOf(data.length), data);
  }
  if (version === 'legacy') return concatBytes(...parts);
  parts.push(countOf(lookups.length));
  for (const { table, writableIndexes, readonlyIndexes } of lookups) {
    parts.push(table, countOf(writableIndexes.length), writableIndexes);
    parts.push(countOf(readonlyIndexes.length), readonlyIndexes);
  }
  return concatBytes(...parts);
}

function encodeV1({ header, keys, recentBlockhash, instructions, config }: Message): Uint8Array {
  const { mask, values } = configBytes(config);
  return concatBytes(
    Uint8Array.of(VERSION_FLAG | 1),
    headerBytes(header),
    numberBytes(mask, 4),
    recentBlockhash,
    byteOf(instructions.length),
    byteOf(keys.length),
    ...keys,
    ...values,
    ...instructions.flatMap(({ programIdIndex, accounts, data }) => [
      byteOf(programIdIndex),
      byteOf(accounts.length),
      numberBytes(data.length, 2),
    ]),
    ...instructions.flatMap(({ accounts, data }) => [accounts, data]),
  );
}

function configBytes(config: TransactionConfig): { mask: number; values: Uint8Array[] } {
  let mask = 0;
  const values = CONFIG_FIELDS.flatMap(({ name, mask: bits }) => {
    const value = config[name];
    if (value === undefined) return [];
    mask |= bits;
    return [numberBytes(value, typeof value === 'bigint' ? 8 : 4)];
  });
  return { mask, values };
}

function headerBytes(header: Message['header']): Uint8Array {
  return concatBytes(
    byteOf(header.numRequiredSignatures),
    byteOf(header.numReadonlySignedAccounts),
    byteOf(header.numReadonlyUnsignedAccounts),
  );
}

function byteOf(value: number): Uint8Array {
  assertFits(value, value <= 0xff && Number.isInteger(value), 1);
  return Uint8Array.of(value);
}

/** Lowest byte first. */
function numberBytes(value: number | bigint, length: number): Uint8Array {
  const whole = BigInt(value);
  assertFits(value, whole >> BigInt(8 * length) === 0n, length);
  return Uint8Array.from({ length }, (_, at) => Number((whole >> BigInt(8 * at)) & 0xffn));
}

function assertFits(value: number | bigint, isFitting: boolean, length: number): void {
  if (isFitting && value >= 0) return;
  throw new RangeError(`A message has ${value} where it must have ${length} bytes`);
}

/** A count as legacy messages and version 0 have it: seven bits a byte, lowest first. */
function countOf(count: number): Uint8Array {
  const bytes: number[] = [];
  let rest = count;
  for (; rest > 0x7f; rest >>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Uint8Array.of(...bytes, rest);
}
