import { base58 } from '@scure/base';

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
