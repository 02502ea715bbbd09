import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { lookUp } from '../keys.ts';
import { concatBytes, littleEndian, nameOfBytes } from '../platform/bytes.ts';
import {
  CONFIG_FIELDS,
  type Message,
  type MessageVersion,
  SIGNATURE_BYTES,
  type TableLookup,
  type TransactionConfig,
  VERSION_FLAG,
} from './message.ts';

/** A lookup table, with its entries as the ledger has them. */
interface LookupTable {
  readonly key: PublicKey;
  readonly addresses: readonly PublicKey[];
}

/** A message, and who has to sign it, the fee payer first. */
export interface CompiledMessage extends Message {
  readonly signers: readonly PublicKey[];
}

interface Account {
  readonly key: PublicKey;
  isSigner: boolean;
  isWritable: boolean;
  isProgram: boolean;
}

/**
 * Orders the accounts of instructions as web3.js does. web3.js encodes each key in base58 to compare
 * them, which took a tenth of the API's time.
 *
 * @param options.blockhash its 32 bytes
 * @param options.table for version 0 alone
 * @param options.config for version 1 alone
 */
export function compileMessage(options: {
  version: MessageVersion;
  instructions: readonly TransactionInstruction[];
  feePayer: PublicKey;
  blockhash: Uint8Array;
  table?: LookupTable | undefined;
  config?: TransactionConfig;
}): CompiledMessage {
  const { version, instructions, feePayer, blockhash, table, config = {} } = options;
  const all = gather(instructions, feePayer);
  const loaded = version === 0 && table ? placesIn(table, all) : { writable: [], readonly: [] };
  const isLoaded = new Set([...loaded.writable, ...loaded.readonly].map(({ account }) => account));
  const own = all.filter((account) => !isLoaded.has(account));
  // Each group in the order of first use.
  const groups = [
    own.filter(({ isSigner, isWritable }) => isSigner && isWritable),
    own.filter(({ isSigner, isWritable }) => isSigner && !isWritable),
    own.filter(({ isSigner, isWritable }) => !isSigner && isWritable),
    own.filter(({ isSigner, isWritable }) => !isSigner && !isWritable),
  ] as const;
  const ordered = groups.flat();
  const signers = [...groups[0], ...groups[1]].map(({ key }) => key);
  const behind = [...loaded.writable, ...loaded.readonly].map(({ account }) => account);
  const places = new Map([...ordered, ...behind].map(({ key }, at) => [nameOfKey(key), at]));
  // Every key of the instructions was gathered above.
  const placeOf = (key: PublicKey): number => places.get(nameOfKey(key)) as number;
  return {
    version,
    header: {
      numRequiredSignatures: signers.length,
      numReadonlySignedAccounts: groups[1].length,
      numReadonlyUnsignedAccounts: groups[3].length,
    },
    keys: ordered.map(({ key }) => key.toBytes()),
    recentBlockhash: blockhash,
    instructions: instructions.map(({ programId, keys, data }) => ({
      programIdIndex: placeOf(programId),
      accounts: Uint8Array.from(keys, ({ pubkey }) => placeOf(pubkey)),
      data,
    })),
    lookups: behind.length > 0 && table ? [lookupOf(table, loaded)] : [],
    config,
    signers,
  };
}

function gather(
  instructions: readonly TransactionInstruction[],
  feePayer: PublicKey,
): readonly Account[] {
  const accounts = new Map<string, Account>();
  const note = (key: PublicKey, roles: Partial<Account>): void => {
    const name = nameOfKey(key);
    const known = accounts.get(name);
    if (!known) {
      const account = { key, isSigner: false, isWritable: false, isProgram: false };
      accounts.set(name, Object.assign(account, roles));
      return;
    }
    known.isSigner ||= roles.isSigner === true;
    known.isWritable ||= roles.isWritable === true;
    known.isProgram ||= roles.isProgram === true;
  };
  note(feePayer, { isSigner: true, isWritable: true });
  for (const { programId, keys } of instructions) {
    note(programId, { isProgram: true });
    for (const { pubkey, isSigner, isWritable } of keys) note(pubkey, { isSigner, isWritable });
  }
  return [...accounts.values()];
}

interface Place {
  readonly account: Account;
  /** In the table. */
  readonly at: number;
}

interface Places {
  readonly writable: readonly Place[];
  readonly readonly: readonly Place[];
}

/** What a table can load: neither signers nor programs, which a message names itself. */
function placesIn({ addresses }: LookupTable, accounts: readonly Account[]): Places {
  const places = new Map(addresses.map((key, at) => [nameOfKey(key), at]));
  const found = accounts.flatMap((account) => {
    const at = places.get(nameOfKey(account.key));
    return at === undefined || account.isSigner || account.isProgram ? [] : [{ account, at }];
  });
  return {
    writable: found.filter(({ account }) => account.isWritable),
    readonly: found.filter(({ account }) => !account.isWritable),
  };
}

function lookupOf({ key }: LookupTable, { writable, readonly }: Places): TableLookup {
  return {
    table: key.toBytes(),
    writableIndexes: Uint8Array.from(writable, ({ at }) => at),
    readonlyIndexes: Uint8Array.from(readonly, ({ at }) => at),
  };
}

const names = new WeakMap<PublicKey, string>();

/** A key's bytes as text, found once for each object. */
export function nameOfKey(key: PublicKey): string {
  return lookUp(names, key, () => nameOfBytes(key.toBytes()));
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

/** A transaction with empty places for the signatures. */
export function encodeDraft(compiled: CompiledMessage): Uint8Array {
  const places = compiled.signers.map(() => new Uint8Array(SIGNATURE_BYTES));
  return encodeTransaction(compiled, encodeMessage(compiled), places);
}

function encodeCounted(message: Message): Uint8Array {
  const { version, header, keys, recentBlockhash, instructions, lookups } = message;
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

function numberBytes(value: number | bigint, length: number): Uint8Array {
  const whole = BigInt(value);
  assertFits(value, whole >> BigInt(8 * length) === 0n, length);
  return littleEndian(whole, length);
}

function assertFits(value: number | bigint, isFitting: boolean, length: number): void {
  if (isFitting && value >= 0) return;
  throw new RangeError(`${value} does not fit ${length} bytes of a message`);
}

/** A count as legacy messages and version 0 have it: seven bits a byte, lowest first. */
function countOf(count: number): Uint8Array {
  const bytes: number[] = [];
  let rest = count;
  for (; rest > 0x7f; rest >>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Uint8Array.of(...bytes, rest);
}
