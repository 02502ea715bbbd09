import { sha256 } from '#crypto';
import { utf8 } from './platform/bytes.ts';
import { canonicalJson, type Json } from './proof.ts';

/**
 * What a Model's `card_hash` pins (32 bytes): the sha256 of its card in the canonical form. The card
 * says which weights workers promise, and not what they run.
 *
 * @throws RangeError for what has no canonical form
 */
export function modelCardHash(card: Json): Uint8Array {
  return sha256(utf8(canonicalJson(card)));
}
