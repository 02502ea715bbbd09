import { type FieldType, wordsOf } from './codec.ts';
import { concatBytes, utf8 } from './platform/bytes.ts';

/** How an argument becomes bytes (Borsh), and what it can hold. */
interface Encoder {
  /** In words, for a refusal. */
  readonly takes: string;
  readonly isFit: (value: unknown) => boolean;
  /** Of a value that is fit. */
  readonly encode: (value: never) => Uint8Array;
}

/** @throws Error for a type that the program's interface did not have so far */
export function encoderOf(type: FieldType): Encoder {
  const known = typeof type === 'string' ? SIMPLE[type] : compoundOf(type);
  if (known !== undefined) return known;
  throw new Error(`The program's interface has arguments of a new type: ${JSON.stringify(type)}`);
}

interface Key {
  toBytes(): Uint8Array;
}

/** By what it can do: the caller's own web3.js may be another copy of it. */
const isKey = (value: unknown): boolean =>
  typeof (value as { toBytes?: unknown } | null)?.toBytes === 'function';

function unsigned(bytes: number): Encoder {
  const max = 2 ** (8 * bytes) - 1;
  return {
    takes: `a whole number from 0 to ${max}`,
    isFit: (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max,
    encode: (value: number) => littleEndian(BigInt(value), bytes),
  };
}

function littleEndian(value: bigint, bytes: number): Uint8Array {
  const encoded = new Uint8Array(8);
  new DataView(encoded.buffer).setBigUint64(0, BigInt.asUintN(64, value), true);
  return encoded.subarray(0, bytes);
}

const SIMPLE: Readonly<Record<string, Encoder>> = {
  u8: unsigned(1),
  u16: unsigned(2),
  u32: unsigned(4),
  u64: {
    takes: 'a bigint from 0 to 2^64 - 1',
    isFit: (value) => typeof value === 'bigint' && value === BigInt.asUintN(64, value),
    encode: (value: bigint) => littleEndian(value, 8),
  },
  i64: {
    takes: 'a bigint from -2^63 to 2^63 - 1',
    isFit: (value) => typeof value === 'bigint' && value === BigInt.asIntN(64, value),
    encode: (value: bigint) => littleEndian(value, 8),
  },
  bool: {
    takes: 'true or false',
    isFit: (value) => typeof value === 'boolean',
    encode: (value: boolean) => Uint8Array.of(value ? 1 : 0),
  },
  string: {
    takes: 'a string',
    isFit: (value) => typeof value === 'string',
    encode: (value: string) => {
      const text = utf8(value);
      return concatBytes(littleEndian(BigInt(text.length), 4), text);
    },
  },
  pubkey: { takes: 'a PublicKey', isFit: isKey, encode: (value: Key) => value.toBytes() },
};

function compoundOf(type: Exclude<FieldType, string>): Encoder | undefined {
  if ('defined' in type) return enumerationOf(type.defined.name);
  if ('vec' in type && type.vec === 'pubkey') {
    return {
      takes: 'an array of PublicKey',
      isFit: (value) => Array.isArray(value) && value.every(isKey),
      encode: (keys: readonly Key[]) =>
        concatBytes(littleEndian(BigInt(keys.length), 4), ...keys.map((key) => key.toBytes())),
    };
  }
  if ('array' in type && type.array[0] === 'u8') {
    const [, length] = type.array;
    return {
      takes: `${length} bytes`,
      isFit: (value) => ArrayBuffer.isView(value) && value.byteLength === length,
      encode: (value: Uint8Array) => value,
    };
  }
  return undefined;
}

function enumerationOf(name: string): Encoder {
  const words = wordsOf(name);
  return {
    takes: `one of ${words.join(', ')}`,
    isFit: (value) => words.includes(value as string),
    encode: (value: string) => Uint8Array.of(words.indexOf(value)),
  };
}
