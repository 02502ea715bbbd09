import { PublicKey } from '@solana/web3.js';

/** No 32 bytes have a longer base58 text. */
const BASE58_CHARACTERS_MAX = 44;

/**
 * The address that a stranger's text names, or undefined when it names none.
 *
 * Decoding base58 takes time with the square of the length, so the length is looked at first.
 */
export function parseAddress(text: string): PublicKey | undefined {
  if (text.length > BASE58_CHARACTERS_MAX) return undefined;
  try {
    return new PublicKey(text);
  } catch {
    return undefined;
  }
}
