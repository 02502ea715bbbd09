import { PublicKey } from '#platform';
import idl from './idl.json' with { type: 'json' };
import { camelCase, type Field, type FieldType, type Interface, snakeCase } from './interface.ts';
import { startsWithBytes, viewOf } from './platform/bytes.ts';

/** The published interface, as Anchor's own tools read it. */
export const IDL = idl as Interface;

/**
 * A value of an instruction, account or event in this client's types. A u64 or i64 is a bigint, and a
 * byte of an enumeration is its name (`generated/vocabulary.ts`).
 */
export type Value = bigint | number | boolean | string | PublicKey | Uint8Array | PublicKey[];

/** The names of each enumeration's values; a name's index is its byte. */
const words = new Map(
  idl.types.flatMap(({ name, type }) =>
    'variants' in type ? [[name, type.variants.map((variant) => snakeCase(variant.name))]] : [],
  ) as [string, readonly string[]][],
);

/** The names of an enumeration's values, in the order of their bytes. */
export function wordsOf(enumeration: string): readonly string[] {
  return namedIn(words, enumeration);
}

function namedIn<Value>(items: ReadonlyMap<string, Value>, name: string): Value {
  const found = items.get(name);
  if (found === undefined) throw new Error(`The program's interface has no ${name}`);
  return found;
}

/** The bytes being read, and how far they are read. */
interface Cursor {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  at: number;
}

type Read = (cursor: Cursor) => Value;

const KEY_BYTES = 32;
const LENGTH_BYTES = 4;

/** The types whose size is always the same: their bytes, and how they are read. */
const FIXED: Readonly<Record<string, { readonly bytes: number; readonly read: Read }>> = {
  u8: { bytes: 1, read: ({ view, at }) => view.getUint8(at) },
  u16: { bytes: 2, read: ({ view, at }) => view.getUint16(at, true) },
  u32: { bytes: 4, read: ({ view, at }) => view.getUint32(at, true) },
  u64: { bytes: 8, read: ({ view, at }) => view.getBigUint64(at, true) },
  i64: { bytes: 8, read: ({ view, at }) => view.getBigInt64(at, true) },
  bool: { bytes: 1, read: readBool },
  pubkey: {
    bytes: KEY_BYTES,
    read: ({ bytes, at }) => new PublicKey(sliceOf(bytes, at, KEY_BYTES)),
  },
};

function readBool({ view, at }: Cursor): boolean {
  const byte = view.getUint8(at);
  if (byte > 1) throw new RangeError(`Invalid bool: ${byte}`);
  return byte === 1;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @throws Error for a type that no account or event has so far */
function readerOf(type: FieldType): Read {
  if (type === 'string') return (cursor) => decoder.decode(take(cursor, readLength(cursor)));
  if (typeof type === 'string') {
    const fixed = FIXED[type];
    if (fixed === undefined) throw new Error(`Fields of type ${type} are not supported`);
    return (cursor) => {
      const value = fixed.read(cursor);
      cursor.at += fixed.bytes;
      return value;
    };
  }
  if ('defined' in type) {
    const { name } = type.defined;
    const known = wordsOf(name);
    return (cursor) => {
      const byte = cursor.view.getUint8(cursor.at);
      const word = known[byte];
      if (word === undefined) throw new RangeError(`Unknown ${name}: ${byte}`);
      cursor.at += 1;
      return word;
    };
  }
  if ('array' in type && type.array[0] === 'u8') return (cursor) => take(cursor, type.array[1]);
  const [inner, count] = 'vec' in type ? [type.vec, readLength] : type.array;
  // All other lists hold keys.
  if (inner !== 'pubkey') throw new Error(`Lists of ${JSON.stringify(inner)} are not supported`);
  return (cursor) => {
    const length = typeof count === 'number' ? count : count(cursor);
    const bytes = take(cursor, length * KEY_BYTES);
    return Array.from(
      { length },
      (_, index) => new PublicKey(bytes.subarray(index * KEY_BYTES, (index + 1) * KEY_BYTES)),
    );
  };
}

function readLength(cursor: Cursor): number {
  const length = cursor.view.getUint32(cursor.at, true);
  cursor.at += LENGTH_BYTES;
  return length;
}

function take(cursor: Cursor, length: number): Uint8Array {
  const found = sliceOf(cursor.bytes, cursor.at, length);
  cursor.at += length;
  return found;
}

/** A copy, which later changes of the bytes leave alone. */
function sliceOf(bytes: Uint8Array, at: number, length: number): Uint8Array {
  if (at + length > bytes.length) throw new RangeError('The bytes end too early');
  return new Uint8Array(bytes.subarray(at, at + length));
}

interface Struct {
  readonly fields: readonly Field[];
  readonly readers: readonly { readonly field: string; readonly read: Read }[];
}

const createStruct = (fields: readonly Field[]): Struct => ({
  fields,
  readers: fields.map(({ name, type }) => ({ field: camelCase(name), read: readerOf(type) })),
});

const structs = new Map<string, Struct>(
  idl.types.flatMap(({ name, type }) =>
    'fields' in type ? [[name, createStruct(type.fields as readonly Field[])]] : [],
  ),
);

/**
 * Reads a struct of the IDL, with names and values as `generated/types.ts` declares them.
 *
 * @throws Error when these are not exactly the bytes that the program writes for such a struct
 */
export function decodeStruct(name: string, bytes: Uint8Array): Record<string, Value> {
  return decodeWhole(name, namedIn(structs, name), bytes);
}

function decodeWhole(name: string, struct: Struct, bytes: Uint8Array): Record<string, Value> {
  const cursor: Cursor = { bytes, view: viewOf(bytes), at: 0 };
  const decoded: Record<string, Value> = {};
  for (const { field, read } of struct.readers) decoded[field] = read(cursor);
  if (cursor.at !== bytes.length) {
    throw new RangeError(`A ${name} has ${cursor.at} bytes, not ${bytes.length}`);
  }
  return decoded;
}

/** The bytes that a type takes. @throws Error where that depends on the value */
export function sizeOf(type: FieldType): number {
  if (typeof type === 'object' && 'defined' in type) return 1;
  if (typeof type === 'object' && 'array' in type) return sizeOf(type.array[0]) * type.array[1];
  const fixed = typeof type === 'string' ? FIXED[type] : undefined;
  if (fixed === undefined) throw new Error(`A ${JSON.stringify(type)} has no fixed size`);
  return fixed.bytes;
}

/** Bytes in front of each account and event that name its kind. */
export const DISCRIMINATOR_BYTES = 8;

/** Bytes of an account, its discriminator included. */
export function accountSize(name: string): number {
  return sizeOfAll(namedIn(structs, name).fields);
}

const sizeOfAll = (fields: readonly Field[]): number =>
  fields.reduce((sum, { type }) => sum + sizeOf(type), DISCRIMINATOR_BYTES);

/**
 * Where in an account's bytes a field begins.
 *
 * @param field as the IDL names it
 */
export function accountFieldOffset(name: string, field: string): number {
  const { fields } = namedIn(structs, name);
  const index = fields.findIndex((one) => one.name === field);
  if (index < 0) throw new Error(`A ${name} has no ${field}`);
  return sizeOfAll(fields.slice(0, index));
}

interface Kind {
  readonly name: string;
  readonly discriminator: Uint8Array;
}

const kindOf = ({ name, discriminator }: { name: string; discriminator: number[] }): Kind => ({
  name,
  discriminator: Uint8Array.from(discriminator),
});

/** The program's kinds of account and event, with the bytes that each begins with. */
export const ACCOUNT_KINDS: readonly Kind[] = idl.accounts.map(kindOf);
export const PROGRAM_EVENTS: readonly Kind[] = idl.events.map(kindOf);

/** The program's instructions, by their names, with the arguments that follow their discriminators. */
const INSTRUCTIONS = new Map(
  idl.instructions.map((item) => [
    item.name,
    {
      ...kindOf(item),
      accounts: item.accounts.map((account) => account.name),
      struct: createStruct(item.args as readonly Field[]),
    },
  ]),
);

function instructionOf(name: string) {
  const found = INSTRUCTIONS.get(name);
  if (found === undefined) throw new Error(`The program has no instruction ${name}`);
  return found;
}

/**
 * The position of an account in an instruction's list.
 *
 * @param name as the IDL names the instruction, and `account` its account
 */
export function accountPosition(name: string, account: string): number {
  const position = instructionOf(name).accounts.indexOf(account);
  if (position < 0) throw new Error(`${name} takes no account ${account}`);
  return position;
}

/**
 * Reads the arguments of an instruction of the program.
 *
 * @param name the IDL's snake-case name
 * @returns undefined for the data of another instruction
 * @throws Error when these are not exactly the bytes that the program takes
 */
export function decodeArguments(name: string, data: Uint8Array): Record<string, Value> | undefined {
  const { discriminator, struct } = instructionOf(name);
  if (!startsWithBytes(data, discriminator)) return undefined;
  return decodeWhole(name, struct, data.subarray(DISCRIMINATOR_BYTES));
}
