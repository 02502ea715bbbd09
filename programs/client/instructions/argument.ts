import type { Idl } from '@coral-xyz/anchor';

type ArgumentType = Idl['instructions'][number]['args'][number]['type'];

const UNSIGNED_BITS: Readonly<Record<string, number>> = { u8: 8, u16: 16, u32: 32 };

/**
 * What an argument can hold. Of anything else Anchor's coder would take a part: no sign of a u64, no
 * fraction of a u32, no matter how many bytes.
 */
export interface Bounds {
  readonly takes: string;
  readonly isFit: (value: unknown) => boolean;
}

/** @throws Error for a type that the program's interface did not have so far */
export function boundsOf(type: ArgumentType): Bounds {
  if (typeof type === 'object') return boundsOfMany(type);
  const bits = UNSIGNED_BITS[type];
  if (bits !== undefined) {
    const max = 2 ** bits - 1;
    return {
      takes: `a whole number from 0 to ${max}`,
      isFit: (value) =>
        Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max,
    };
  }
  switch (type) {
    case 'u64':
      return {
        takes: 'a bigint from 0 to 2^64 - 1',
        isFit: (value) => typeof value === 'bigint' && value === BigInt.asUintN(64, value),
      };
    case 'i64':
      return {
        takes: 'a bigint from -2^63 to 2^63 - 1',
        isFit: (value) => typeof value === 'bigint' && value === BigInt.asIntN(64, value),
      };
    case 'bool':
      return { takes: 'true or false', isFit: (value) => typeof value === 'boolean' };
    case 'string':
      return { takes: 'a string', isFit: (value) => typeof value === 'string' };
    case 'pubkey':
      return { takes: 'a PublicKey', isFit: isPublicKey };
    default:
      throw new Error(`The program's interface has arguments of a new type: ${type}`);
  }
}

function boundsOfMany(type: Exclude<ArgumentType, string>): Bounds {
  if ('vec' in type && type.vec === 'pubkey') {
    return {
      takes: 'an array of PublicKey',
      isFit: (value) => Array.isArray(value) && value.every(isPublicKey),
    };
  }
  if ('array' in type && type.array[0] === 'u8') {
    const [, length] = type.array;
    return {
      takes: `${length} bytes`,
      isFit: (value) => ArrayBuffer.isView(value) && value.byteLength === length,
    };
  }
  throw new Error(`The program's interface has arguments of a new type: ${JSON.stringify(type)}`);
}

/** By what it can do: the caller's own web3.js may be another copy of it. */
function isPublicKey(value: unknown): boolean {
  return typeof (value as { toBuffer?: unknown } | null)?.toBuffer === 'function';
}
