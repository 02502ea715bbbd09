import { base58 } from '@scure/base';
import { areBytesEqual } from './platform/bytes.ts';

/** How the ledger's clients spell addresses, signatures and the data of instructions. */
export function encodeBase58(bytes: Uint8Array): string {
  return base58.encode(bytes);
}

/** The bytes that are spelled so. @throws Error when it is no base58 */
export function decodeBase58(text: string): Uint8Array {
  return base58.decode(text);
}

/** The bytes that are spelled so; undefined when it is no base58. */
export function tryDecodeBase58(text: string): Uint8Array | undefined {
  try {
    return base58.decode(text);
  } catch {
    return undefined;
  }
}

/** Whether two keys, maybe of two classes, have the same bytes. */
export function areKeysEqual(
  one: { toBytes(): Uint8Array },
  other: { toBytes(): Uint8Array },
): boolean {
  return areBytesEqual(one.toBytes(), other.toBytes());
}
