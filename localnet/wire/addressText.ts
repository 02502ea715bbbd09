import { base58 } from '@scure/base';

// The same few addresses are told over and over; base58 is quadratic and slow.

/** Some 3 MB when full. */
const KEPT_MAX = 20_000;
const texts = new Map<string, string>();

/** Bytes as a key of a Map: one character each. */
export function keyOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

/** The bytes of a key. */
export function bytesOfKey(key: string): Uint8Array {
  return Buffer.from(key, 'latin1');
}

/** An address or blockhash in base58. */
export function addressText(bytes: Uint8Array): string {
  const key = keyOf(bytes);
  const known = texts.get(key);
  if (known !== undefined) return known;
  if (texts.size >= KEPT_MAX) texts.clear();
  const text = base58.encode(bytes);
  texts.set(key, text);
  return text;
}

/** Node skips over what is no base64: a cluster refuses it. */
export function decodeBase64(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}
