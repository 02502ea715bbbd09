import { sha256 } from '#crypto';
import { concatBytes, utf8 } from './platform/bytes.ts';

/** What a request consists of: JSON, in which an undefined field is one that is not there. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [field: string]: Json | undefined };

const SALT_BYTES = 32;

/**
 * What a worker signs about the request that it answered (32 bytes): sha256 over the salt and the
 * sha256 of the canonical request. Without the salt a short question cannot be guessed.
 *
 * @param salt 32 random bytes, new for each job
 * @param request as `canonicalJson` takes it
 * @throws RangeError for another salt, and for what has no canonical form
 */
export function requestCommitment(salt: Uint8Array, request: Json): Uint8Array {
  if (salt.length !== SALT_BYTES) throw new RangeError(`A salt has ${SALT_BYTES} bytes`);
  return sha256(concatBytes(salt, sha256(utf8(canonicalJson(request)))));
}

/**
 * JSON in the one form that RFC 8785 gives it. It has no spaces, fields in the order of their UTF-16
 * units, and numbers and strings as ECMAScript writes them.
 *
 * @throws RangeError for what implementations read differently: whole numbers beyond 2^53, numbers
 *   without an end, and halves of a character
 */
export function canonicalJson(value: Json): string {
  if (typeof value === 'number') return canonicalNumber(value);
  if (typeof value === 'string') return canonicalString(value);
  if (value === null || typeof value !== 'object') return String(value);
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const fields = Object.keys(value).sort(byUnits);
  const parts = fields.flatMap((field) => {
    const held = value[field];
    return held === undefined ? [] : [`${canonicalString(field)}:${canonicalJson(held)}`];
  });
  return `{${parts.join(',')}}`;
}

// Array.isArray does not narrow a readonly list.
const isList = (value: object): value is readonly Json[] => Array.isArray(value);

const byUnits = (one: string, other: string): number => (one < other ? -1 : 1);

function canonicalNumber(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError(`${value} is no number of JSON`);
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new RangeError('A whole number is beyond 2^53');
  }
  // Negative zero is written as zero.
  return JSON.stringify(value);
}

function canonicalString(text: string): string {
  if (!text.isWellFormed()) throw new RangeError('A text has half of a character');
  return JSON.stringify(text);
}
