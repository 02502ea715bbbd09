import { PublicKey } from '#publicKey';
import { decodeBase58 } from '../../keys.ts';
import { encodeMessage, type Message, type MessageVersion } from '../../wire/index.ts';

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
  /** Of version 1 alone. */
  readonly transactionConfig?: {
    readonly priorityFee: number | null;
    readonly computeUnitLimit: number | null;
    readonly loadedAccountsDataSizeLimit: number | null;
    readonly heapSize: number | null;
  };
}

interface LoadedKeys {
  readonly writable: readonly PublicKey[];
  readonly readonly: readonly PublicKey[];
}

/** A message with the parts of web3.js's VersionedMessage that verification reads. */
export function createMessage(json: MessageJson, version: 'legacy' | number) {
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
      accountKeysFromLookups: loaded,
    }: {
      accountKeysFromLookups: LoadedKeys | null;
    }) => ({
      keySegments: () => [staticAccountKeys, ...(loaded ? [loaded.writable, loaded.readonly] : [])],
    }),
    serialize: () => encodeMessage(messageOf(json, version)),
  };
}

const VERSIONS: readonly (string | number)[] = ['legacy', 0, 1] satisfies MessageVersion[];

/** @throws Error for a version whose bytes are not known; RangeError for a number that no byte holds */
function messageOf(json: MessageJson, version: 'legacy' | number): Message {
  if (!VERSIONS.includes(version)) {
    throw new Error(`A transaction is of version ${version}, which this client does not read`);
  }
  const { accountKeys, recentBlockhash, instructions, addressTableLookups = [] } = json;
  const { priorityFee, ...limits } = json.transactionConfig ?? { priorityFee: null };
  return {
    version: version as MessageVersion,
    header: json.header,
    keys: accountKeys.map(keyBytes),
    recentBlockhash: keyBytes(recentBlockhash),
    instructions: instructions.map(({ programIdIndex, accounts, data }) => ({
      programIdIndex,
      accounts: bytesOf(accounts),
      data: decodeBase58(data),
    })),
    lookups: addressTableLookups.map(({ accountKey, writableIndexes, readonlyIndexes }) => ({
      table: keyBytes(accountKey),
      writableIndexes: bytesOf(writableIndexes),
      readonlyIndexes: bytesOf(readonlyIndexes),
    })),
    config: {
      ...(priorityFee !== null && { priorityFeeLamports: BigInt(priorityFee) }),
      ...Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== null)),
    },
  };
}

function keyBytes(text: string): Uint8Array {
  return new PublicKey(text).toBytes();
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
