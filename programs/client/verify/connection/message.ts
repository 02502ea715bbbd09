import { PublicKey } from '#publicKey';
import { decodeBase58 } from '../../keys.ts';
import { concatBytes } from '../../platform/bytes.ts';

/** A transaction's message as a node's JSON has it. */
export interface MessageJson {
  readonly header: {
    readonly numRequiredSignatures: number;
    readonly numReadonlySignedAccounts: number;
    readonly numReadonlyUnsignedAccounts: number;
  };
  readonly accountKeys: readonly string[];
  readonly recentBlockhash: string;
  readonly instructions: readonly {
    readonly programIdIndex: number;
    readonly accounts: readonly number[];
    readonly data: string;
  }[];
  readonly addressTableLookups?: readonly {
    readonly accountKey: string;
    readonly writableIndexes: readonly number[];
    readonly readonlyIndexes: readonly number[];
  }[];
}

interface LoadedKeys {
  readonly writable: readonly PublicKey[];
  readonly readonly: readonly PublicKey[];
}

/**
 * A message with the parts of web3.js's VersionedMessage that verification reads.
 *
 * @throws Error for a version other than `legacy` and 0
 */
export function createMessage(json: MessageJson, version: 'legacy' | number) {
  if (version !== 'legacy' && version !== 0) {
    throw new Error(`A transaction is of version ${version}, which this client does not read`);
  }
  const staticAccountKeys = json.accountKeys.map((text) => new PublicKey(text));
  const compiledInstructions = json.instructions.map(({ programIdIndex, accounts, data }) => ({
    programIdIndex,
    accountKeyIndexes: accounts,
    data: decodeBase58(data),
  }));
  return {
    header: json.header,
    staticAccountKeys,
    compiledInstructions,
    getAccountKeys: ({
      accountKeysFromLookups,
    }: {
      accountKeysFromLookups: LoadedKeys | null;
    }) => ({
      keySegments: () => [
        staticAccountKeys,
        ...(version === 0 && accountKeysFromLookups
          ? [accountKeysFromLookups.writable, accountKeysFromLookups.readonly]
          : []),
      ],
    }),
    serialize: () => serialize(json, version),
  };
}

const VERSION_0 = 0x80;

/** The bytes that were signed. @throws RangeError for a number that no byte holds */
function serialize(json: MessageJson, version: 'legacy' | 0): Uint8Array {
  const { header, accountKeys, recentBlockhash, instructions, addressTableLookups = [] } = json;
  const lookups = addressTableLookups.map(({ accountKey, writableIndexes, readonlyIndexes }) =>
    concatBytes(keyBytes(accountKey), byteList(writableIndexes), byteList(readonlyIndexes)),
  );
  return concatBytes(
    ...(version === 0 ? [Uint8Array.of(VERSION_0)] : []),
    bytesOf([
      header.numRequiredSignatures,
      header.numReadonlySignedAccounts,
      header.numReadonlyUnsignedAccounts,
    ]),
    list(accountKeys.map(keyBytes)),
    keyBytes(recentBlockhash),
    list(
      instructions.map(({ programIdIndex, accounts, data }) => {
        const dataBytes = decodeBase58(data);
        return concatBytes(
          bytesOf([programIdIndex]),
          byteList(accounts),
          compactLength(dataBytes.length),
          dataBytes,
        );
      }),
    ),
    ...(version === 0 ? [list(lookups)] : []),
  );
}

function keyBytes(text: string): Uint8Array {
  return new PublicKey(text).toBytes();
}

function list(items: readonly Uint8Array[]): Uint8Array {
  return concatBytes(compactLength(items.length), ...items);
}

function byteList(numbers: readonly number[]): Uint8Array {
  return concatBytes(compactLength(numbers.length), bytesOf(numbers));
}

/** A number outside a byte must not wrap: the bytes would name another account than the JSON. */
function bytesOf(numbers: readonly number[]): Uint8Array {
  for (const number of numbers) {
    if (!Number.isInteger(number) || number < 0 || number > 0xff) {
      throw new RangeError(`A message has ${number} where it must have a byte`);
    }
  }
  return Uint8Array.from(numbers);
}

/** Seven bits a byte, the lowest first. */
function compactLength(length: number): Uint8Array {
  const bytes: number[] = [];
  let rest = length;
  for (; rest > 0x7f; rest >>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Uint8Array.of(...bytes, rest);
}
