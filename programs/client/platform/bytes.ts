/** The functions of Node's Buffer that this client needs, for browsers too. */

const encoder = new TextEncoder();

/** @throws TypeError for anything but a string: the encoder would encode undefined as empty */
export function utf8(text: string): Uint8Array {
  if (typeof text !== 'string') throw new TypeError('a text has to be a string');
  return encoder.encode(text);
}

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export function areBytesEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && startsWithBytes(one, other);
}

export function startsWithBytes(bytes: Uint8Array, start: Uint8Array, at = 0): boolean {
  for (let index = 0; index < start.length; index += 1) {
    if (bytes[at + index] !== start[index]) return false;
  }
  return true;
}

export function includesBytes(bytes: Uint8Array, part: Uint8Array): boolean {
  for (let at = 0; at + part.length <= bytes.length; at += 1) {
    if (startsWithBytes(bytes, part, at)) return true;
  }
  return false;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

export function bytesToHex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += HEX[byte];
  return text;
}

/** @param hex an even number of hex digits */
export function hexToBytes(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length / 2);
  for (let at = 0; at < bytes.length; at += 1) {
    bytes[at] = 16 * hexDigit(hex.charCodeAt(2 * at)) + hexDigit(hex.charCodeAt(2 * at + 1));
  }
  return bytes;
}

const hexDigit = (code: number): number => (code & 0xf) + (code > 0x39 ? 9 : 0);

/** For reading and writing numbers at their places in the bytes. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A number's lowest bytes, at most 8, the lowest first. */
export function littleEndian(value: bigint, length: number): Uint8Array {
  const bytes = new Uint8Array(8);
  viewOf(bytes).setBigUint64(0, value, true);
  return bytes.subarray(0, length);
}

const WORD_BYTES = 8;

/** The number of bytes of which the lowest is the first. @param bytes a multiple of eight */
export function readLittleEndian(bytes: Uint8Array): bigint {
  const view = viewOf(bytes);
  let value = 0n;
  for (let at = bytes.length - WORD_BYTES; at >= 0; at -= WORD_BYTES) {
    value = (value << 64n) | view.getBigUint64(at, true);
  }
  return value;
}

/** Bytes as a key of a Map: one character each. */
export function nameOfBytes(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

/** The y of every point of small order, in each of its encodings, without the sign. */
const SMALL_ORDER_YS = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
].map(hexToBytes);
const LAST = 31;

/**
 * Whether the first 32 bytes are a point of ed25519 whose order divides eight. With such a key, one
 * signature may fit many messages.
 */
export function hasSmallOrder(bytes: Uint8Array): boolean {
  const lastOfY = (bytes[LAST] ?? 0) & 0x7f;
  return SMALL_ORDER_YS.some(
    (y) => y[LAST] === lastOfY && startsWithBytes(bytes, y.subarray(0, LAST)),
  );
}
