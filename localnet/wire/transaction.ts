import { ADDRESS_BYTES } from '../runtime/runtime.ts';

/** A decoded transaction. All bytes are views of `wire`. */
export interface DecodedTransaction {
  readonly wire: Uint8Array;
  readonly version: 'legacy' | 0;
  readonly signatures: readonly Uint8Array[];
  /** The signed bytes. */
  readonly message: Uint8Array;
  readonly header: MessageHeader;
  /** The accounts in the message itself; those of lookup tables follow them. */
  readonly keys: readonly Uint8Array[];
  readonly recentBlockhash: Uint8Array;
  readonly instructions: readonly WireInstruction[];
  readonly lookups: readonly TableLookup[];
}

interface MessageHeader {
  readonly numRequiredSignatures: number;
  readonly numReadonlySignedAccounts: number;
  readonly numReadonlyUnsignedAccounts: number;
}

/** Indices refer to the message's accounts, then to those of its lookup tables. */
export interface WireInstruction {
  readonly programIdIndex: number;
  readonly accounts: Uint8Array;
  readonly data: Uint8Array;
}

interface TableLookup {
  readonly table: Uint8Array;
  readonly writableIndexes: Uint8Array;
  readonly readonlyIndexes: Uint8Array;
}

/** One packet of a cluster's network. */
export const TRANSACTION_BYTES_MAX = 1_232;
export const SIGNATURE_BYTES = 64;
const ACCOUNTS_MAX = 256;
const VERSION_FLAG = 0x80;

/** Bytes that no cluster would accept as a transaction. */
export class MalformedTransactionError extends Error {
  override name = 'MalformedTransactionError';
}

/**
 * Decodes a transaction as strictly as a cluster: every length is checked before its use, counts have
 * their shortest form, and no byte may be left over. So the result has exactly one encoding, and
 * LiteSVM, which ends the process on bytes that it cannot decode, can decode it.
 *
 * @throws MalformedTransactionError with the reason
 */
export function decodeTransaction(wire: Uint8Array): DecodedTransaction {
  if (wire.length > TRANSACTION_BYTES_MAX) {
    fail(`too large: ${wire.length} bytes (max: ${TRANSACTION_BYTES_MAX})`);
  }
  const reader = createReader(wire);
  const signatures = reader.list(() => reader.take(SIGNATURE_BYTES));
  const messageOffset = reader.offset();
  const decoded = decodeMessageWith(reader);
  if (reader.offset() !== wire.length) fail(`${wire.length - reader.offset()} trailing bytes`);
  if (signatures.length !== decoded.header.numRequiredSignatures) {
    const { numRequiredSignatures: wanted } = decoded.header;
    fail(`${signatures.length} signatures where the message wants ${wanted}`);
  }
  return { wire, signatures, message: wire.subarray(messageOffset), ...decoded };
}

/**
 * Decodes a message alone: `getFeeForMessage` gets one without signatures.
 *
 * @throws MalformedTransactionError
 */
export function decodeMessage(
  message: Uint8Array,
): Omit<DecodedTransaction, 'wire' | 'signatures' | 'message'> {
  if (message.length > TRANSACTION_BYTES_MAX) fail(`too large: ${message.length} bytes`);
  const reader = createReader(message);
  const decoded = decodeMessageWith(reader);
  if (reader.offset() !== message.length) fail('trailing bytes');
  return decoded;
}

/** Whether an instruction may change the account at this index. */
export function isWritable(
  { header, keys, lookups }: Pick<DecodedTransaction, 'header' | 'keys' | 'lookups'>,
  index: number,
): boolean {
  const { numRequiredSignatures: signers } = header;
  if (index < signers) return index < signers - header.numReadonlySignedAccounts;
  if (index < keys.length) return index < keys.length - header.numReadonlyUnsignedAccounts;
  const loadedWritable = lookups.reduce((sum, lookup) => sum + lookup.writableIndexes.length, 0);
  return index < keys.length + loadedWritable;
}

function decodeMessageWith(
  reader: Reader,
): Omit<DecodedTransaction, 'wire' | 'signatures' | 'message'> {
  const version = decodeVersion(reader);
  const header = {
    numRequiredSignatures: reader.byte(),
    numReadonlySignedAccounts: reader.byte(),
    numReadonlyUnsignedAccounts: reader.byte(),
  };
  const keys = reader.list(() => reader.take(ADDRESS_BYTES));
  const recentBlockhash = reader.take(ADDRESS_BYTES);
  const instructions = reader.list(() => ({
    programIdIndex: reader.byte(),
    accounts: reader.bytes(),
    data: reader.bytes(),
  }));
  const lookups =
    version === 'legacy'
      ? []
      : reader.list(() => ({
          table: reader.take(ADDRESS_BYTES),
          writableIndexes: reader.bytes(),
          readonlyIndexes: reader.bytes(),
        }));
  const decoded = { version, header, keys, recentBlockhash, instructions, lookups };
  assertSane(decoded);
  return decoded;
}

function decodeVersion(reader: Reader): 'legacy' | 0 {
  const first = reader.peek();
  if ((first & VERSION_FLAG) === 0) return 'legacy';
  const version = first & ~VERSION_FLAG;
  if (version !== 0) fail(`version ${version} is not supported`);
  reader.byte();
  return 0;
}

/** The ledger's sanitizing: every index is valid, and a writable signer pays. */
function assertSane(message: {
  header: MessageHeader;
  keys: readonly Uint8Array[];
  instructions: readonly WireInstruction[];
  lookups: readonly TableLookup[];
}): void {
  const { header, keys, instructions, lookups } = message;
  const { numRequiredSignatures: signers, numReadonlySignedAccounts: readonlySigners } = header;
  if (signers + header.numReadonlyUnsignedAccounts > keys.length) {
    fail('failed to sanitize: fewer accounts than its header counts');
  }
  if (readonlySigners >= signers) fail('failed to sanitize: no writable signer pays');
  let accounts = keys.length;
  for (const { writableIndexes, readonlyIndexes } of lookups) {
    const loaded = writableIndexes.length + readonlyIndexes.length;
    if (loaded === 0) fail('failed to sanitize: a lookup table without lookups');
    accounts += loaded;
  }
  if (accounts > ACCOUNTS_MAX) fail(`failed to sanitize: more than ${ACCOUNTS_MAX} accounts`);
  for (const { programIdIndex, accounts: indexes } of instructions) {
    const isProgram = programIdIndex > 0 && programIdIndex < keys.length;
    if (!isProgram || indexes.some((index) => index >= accounts)) {
      fail('failed to sanitize accounts offsets correctly');
    }
  }
}

type Reader = ReturnType<typeof createReader>;

function createReader(wire: Uint8Array) {
  let at = 0;

  function take(length: number): Uint8Array {
    if (at + length > wire.length) fail('ends before its end');
    const bytes = wire.subarray(at, at + length);
    at += length;
    return bytes;
  }

  const byte = (): number => take(1)[0] as number;

  /** A count of at most 16 bits: seven bits a byte, lowest first, in the fewest bytes. */
  function count(): number {
    let value = 0;
    for (let shift = 0; shift <= 14; shift += 7) {
      const next = byte();
      value |= (next & 0x7f) << shift;
      if ((next & 0x80) === 0) {
        if (next === 0 && shift > 0) fail('a count is longer than it need be');
        if (value > 0xffff) fail('a count is too large');
        return value;
      }
    }
    return fail('a count is too long');
  }

  return {
    take,
    byte,
    offset: () => at,
    peek: () => wire[at] ?? fail('ends before its end'),
    bytes: () => take(count()),
    list<Item>(read: () => Item): Item[] {
      const length = count();
      // Each item has at least one byte, so a larger count is wrong.
      if (length > wire.length - at) fail('ends before its end');
      return Array.from({ length }, read);
    },
  };
}

function fail(reason: string): never {
  throw new MalformedTransactionError(reason);
}
