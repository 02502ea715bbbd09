import { base58 } from '@scure/base';
import { bytesToHex, hexToBytes } from './platform/bytes.ts';

// Base58 of @scure/base divides byte by byte, which takes a tenth of a millisecond for 400 bytes. The
// data of events are so long. BigInt takes nine digits at a time, in less than half of that.

const DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const BASE = DIGITS.length;
/** By the code of a digit: a Map of characters takes four times as long. */
const VALUES: (number | undefined)[] = [];
for (let value = 0; value < BASE; value += 1) VALUES[DIGITS.charCodeAt(value)] = value;

/** As many digits as a double holds exactly. */
const CHUNK_DIGITS = 9;
const CHUNK = BigInt(BASE) ** BigInt(CHUNK_DIGITS);

/** Below these, @scure/base is as fast. */
const LONG_BYTES = 100;
const LONG_DIGITS = 200;

/** Bytes of any length in base58. */
export function encodeBase58(bytes: Uint8Array): string {
  if (bytes.length < LONG_BYTES) return base58.encode(bytes);
  const start = bytes.findIndex((byte) => byte !== 0);
  const zeros = start === -1 ? bytes.length : start;
  let rest = BigInt(`0x0${bytesToHex(bytes)}`);
  let text = '';
  while (rest > 0n) {
    text = chunkText(Number(rest % CHUNK)) + text;
    rest /= CHUNK;
  }
  return '1'.repeat(zeros) + text.replace(/^1+/, '');
}

function chunkText(chunk: number): string {
  let rest = chunk;
  let text = '';
  for (let digits = 0; digits < CHUNK_DIGITS; digits += 1) {
    text = DIGITS.charAt(rest % BASE) + text;
    rest = Math.floor(rest / BASE);
  }
  return text;
}

/**
 * The bytes of a base58 text of any length.
 *
 * @throws Error for a character that is no digit
 */
export function decodeBase58(text: string): Uint8Array {
  if (text.length < LONG_DIGITS) return base58.decode(text);
  const padded = text.padStart(Math.ceil(text.length / CHUNK_DIGITS) * CHUNK_DIGITS, '1');
  let number = 0n;
  for (let at = 0; at < padded.length; at += CHUNK_DIGITS) {
    number = number * CHUNK + BigInt(chunkOf(padded, at));
  }
  const [zeros] = /^1*/.exec(text) as RegExpExecArray;
  const hex = number === 0n ? '' : number.toString(16);
  return hexToBytes('00'.repeat(zeros.length) + hex.padStart(hex.length + (hex.length % 2), '0'));
}

function chunkOf(text: string, at: number): number {
  let chunk = 0;
  for (let digit = at; digit < at + CHUNK_DIGITS; digit += 1) {
    const value = VALUES[text.charCodeAt(digit)];
    if (value === undefined) throw new Error(`Unknown letter: "${text.charAt(digit)}"`);
    chunk = chunk * BASE + value;
  }
  return chunk;
}
