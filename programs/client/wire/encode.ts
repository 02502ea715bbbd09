import { concatBytes } from '../platform/bytes.ts';
import { CONFIG_FIELDS, type Message, type TransactionConfig, VERSION_FLAG } from './message.ts';

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
