import {
  CONFIG_FIELDS,
  type DecodedTransaction,
  KEY_BYTES,
  type Message,
  type MessageHeader,
  type MessageVersion,
  SIGNATURE_BYTES,
  TRANSACTION_BYTES_MAX,
  type TransactionConfig,
  VERSION_FLAG,
} from './message.ts';
import { createReader, fail, type Reader } from './reader.ts';
import { assertSane } from './sane.ts';

const V1_FIRST_BYTE = VERSION_FLAG | 1;

/**
 * Decodes a transaction as strictly as a cluster. Every length is checked before its use, counts have
 * their shortest form, and no byte may be left over. So the result has exactly one encoding. LiteSVM,
 * which ends the process on bytes that it cannot decode, can decode it.
 *
 * @throws MalformedTransactionError with the reason
 */
export function decodeTransaction(wire: Uint8Array): DecodedTransaction {
  // A count of so many signatures would be of more than a packet.
  const isV1 = wire[0] === V1_FIRST_BYTE;
  assertSize(wire, isV1 ? 1 : 'legacy');
  const reader = createReader(wire);
  const readSignature = (): Uint8Array => reader.take(SIGNATURE_BYTES);
  const first = isV1 ? undefined : reader.list(readSignature);
  const start = reader.offset();
  const message = readMessage(reader);
  const end = reader.offset();
  const { numRequiredSignatures: wanted } = message.header;
  const signatures = first ?? Array.from({ length: wanted }, readSignature);
  if (!isV1 && message.version === 1) fail('signatures before a message of version 1');
  assertEnd(reader, wire);
  if (signatures.length !== wanted) {
    fail(`${signatures.length} signatures where the message wants ${wanted}`);
  }
  return { wire, signatures, message: wire.subarray(start, end), ...message };
}

/**
 * Decodes a message alone: `getFeeForMessage` gets one without signatures.
 *
 * @throws MalformedTransactionError
 */
export function decodeMessage(bytes: Uint8Array): Message {
  const reader = createReader(bytes);
  const message = readMessage(reader);
  assertEnd(reader, bytes);
  assertSize(bytes, message.version);
  return message;
}

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

function assertSize(bytes: Uint8Array, version: MessageVersion): void {
  const max = TRANSACTION_BYTES_MAX[version];
  if (bytes.length > max) fail(`too large: ${bytes.length} bytes (max: ${max})`);
}

function assertEnd(reader: Reader, bytes: Uint8Array): void {
  if (reader.offset() !== bytes.length) fail(`${bytes.length - reader.offset()} trailing bytes`);
}

function readMessage(reader: Reader): Message {
  const version = readVersion(reader);
  const header = {
    numRequiredSignatures: reader.byte(),
    numReadonlySignedAccounts: reader.byte(),
    numReadonlyUnsignedAccounts: reader.byte(),
  };
  const message = version === 1 ? readV1(reader, header) : readCounted(reader, version, header);
  assertSane(message);
  return message;
}

function readVersion(reader: Reader): MessageVersion {
  if (reader.peek() < VERSION_FLAG) return 'legacy';
  const version = reader.byte() & ~VERSION_FLAG;
  return version === 0 || version === 1 ? version : fail(`version ${version} is not supported`);
}

const readKey = (reader: Reader): Uint8Array => reader.take(KEY_BYTES);

/** Version 0 and the one before it: each list is behind its count. */
function readCounted(reader: Reader, version: 'legacy' | 0, header: MessageHeader): Message {
  return {
    version,
    header,
    keys: reader.list(() => readKey(reader)),
    recentBlockhash: readKey(reader),
    instructions: reader.list(() => ({
      programIdIndex: reader.byte(),
      accounts: reader.counted(),
      data: reader.counted(),
    })),
    lookups:
      version === 'legacy'
        ? []
        : reader.list(() => ({
            table: readKey(reader),
            writableIndexes: reader.counted(),
            readonlyIndexes: reader.counted(),
          })),
    config: {},
  };
}

/** Version 1: all counts come first, in places of fixed size. */
function readV1(reader: Reader, header: MessageHeader): Message {
  const mask = reader.uint32();
  const recentBlockhash = readKey(reader);
  const instructionCount = reader.byte();
  const keyCount = reader.byte();
  const keys = Array.from({ length: keyCount }, () => readKey(reader));
  const config = readConfig(reader, mask);
  const heads = Array.from({ length: instructionCount }, () => ({
    programIdIndex: reader.byte(),
    accountCount: reader.byte(),
    dataLength: reader.uint16(),
  }));
  const instructions = heads.map(({ programIdIndex, accountCount, dataLength }) => ({
    programIdIndex,
    accounts: reader.take(accountCount),
    data: reader.take(dataLength),
  }));
  return { version: 1, header, keys, recentBlockhash, instructions, lookups: [], config };
}

/** A bit that is not known stands for a field of unknown size, so that nothing behind it is certain. */
function readConfig(reader: Reader, mask: number): TransactionConfig {
  let rest = mask;
  const entries = CONFIG_FIELDS.flatMap(({ name, mask: bits }) => {
    const set = mask & bits;
    rest &= ~bits;
    if (set === 0) return [];
    if (set !== bits) fail(`half of the config's ${name}`);
    return [[name, name === 'priorityFeeLamports' ? reader.uint64() : reader.uint32()] as const];
  });
  if (rest !== 0) fail(`unknown bits of the config: ${rest >>> 0}`);
  return Object.fromEntries(entries);
}
