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

/** Bytes as a key of a Map: one character each. */
export function nameOfBytes(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}
