import { base58 } from '@scure/base';
import { PublicKey } from '#platform';

import { encodeMessage, type MessageVersion } from '../../wire/index.ts';

/** A message that shows not even its accounts, in a version whose form is not known. */
export class UnknownFormError extends Error {
  override name = 'UnknownFormError';
}

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
  /** Only in version 1. */
  readonly transactionConfig?: {
    readonly priorityFee: number | null;
    readonly computeUnitLimit: number | null;
    readonly loadedAccountsDataSizeLimit: number | null;
    readonly heapSize: number | null;
  };
}

interface Lookups {
  readonly accountKeysFromLookups: {
    readonly writable: readonly PublicKey[];
    readonly readonly: readonly PublicKey[];
  } | null;
}

/**
 * A message with the parts of web3.js's VersionedMessage that verification reads. In a version that
 * is not known its instructions may have any form: only its accounts must be there.
 *
 * @throws UnknownFormError
 */
export function createMessage(json: MessageJson, version: 'legacy' | number) {
  const isKnown = VERSIONS.includes(version);
  const keys = () => json.accountKeys.map((text) => new PublicKey(text));
  const instructions = () =>
    json.instructions.map(({ programIdIndex, accounts, data }) => ({
      programIdIndex,
      accountKeyIndexes: [...accounts],
      data: base58.decode(data),
    }));
  const staticAccountKeys = isKnown ? keys() : tryRead(keys);
  if (!staticAccountKeys) throw new UnknownFormError(`Unknown version ${version} of a message`);
  return {
    version,
    header: json.header,
    staticAccountKeys,
    recentBlockhash: json.recentBlockhash,
    compiledInstructions: isKnown ? instructions() : (tryRead(instructions) ?? []),
    addressTableLookups: json.addressTableLookups?.map(({ accountKey, ...indexes }) => ({
      accountKey: new PublicKey(accountKey),
      ...indexes,
    })),
    transactionConfig: json.transactionConfig,
    getAccountKeys: ({ accountKeysFromLookups: loaded }: Lookups) => ({
      keySegments: () => [staticAccountKeys, ...(loaded ? [loaded.writable, loaded.readonly] : [])],
    }),
  };
}

/** @returns undefined where it has another form */
function tryRead<Part>(read: () => Part): Part | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const VERSIONS: readonly unknown[] = ['legacy', 0, 1] satisfies MessageVersion[];

/** As `createMessage` gives it, or web3.js, whose own `serialize` does not know version 1. */
type ReadMessage = Omit<ReturnType<typeof createMessage>, 'getAccountKeys' | 'transactionConfig'> &
  Pick<MessageJson, 'transactionConfig'>;

/**
 * The bytes that were signed; undefined for a version whose bytes are not known.
 *
 * @throws RangeError for a number that no byte holds
 */
export function signedBytes(message: ReadMessage): Uint8Array | undefined {
  const { version, header, staticAccountKeys, recentBlockhash } = message;
  if (!VERSIONS.includes(version)) return undefined;
  const { priorityFee = null, ...limits } = message.transactionConfig ?? {};
  return encodeMessage({
    version: version as MessageVersion,
    header,
    keys: staticAccountKeys.map((key) => key.toBytes()),
    recentBlockhash: new PublicKey(recentBlockhash).toBytes(),
    instructions: message.compiledInstructions.map((instruction) => ({
      programIdIndex: instruction.programIdIndex,
      accounts: bytesOf(instruction.accountKeyIndexes),
      data: instruction.data,
    })),
    lookups: (message.addressTableLookups ?? []).map((lookup) => ({
      table: lookup.accountKey.toBytes(),
      writableIndexes: bytesOf(lookup.writableIndexes),
      readonlyIndexes: bytesOf(lookup.readonlyIndexes),
    })),
    config: {
      ...(priorityFee !== null && { priorityFeeLamports: BigInt(priorityFee) }),
      ...Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== null)),
    },
  });
}

/** A number outside a byte must not wrap: the bytes would name another account than the JSON. */
function bytesOf(numbers: readonly number[]): Uint8Array {
  for (const number of numbers) {
    if (!Number.isInteger(number) || number < 0 || number > 0xff) {
      throw new RangeError(`${number} does not fit a byte of a message`);
    }
  }
  return Uint8Array.from(numbers);
}
