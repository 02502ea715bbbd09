import { PublicKey } from '@solana/web3.js';
import { LRUCache } from 'lru-cache';

/** Wallets and workers in use: each is asked for with every job. */
const KEYS_KEPT_MAX = 10_000;
const kept = new LRUCache<string, PublicKey>({ max: KEYS_KEPT_MAX });

/**
 * The key that is spelled so. Reading base58 costs more than it seems, and so does spelling it: the
 * same object each time lets what is found for a key be kept with it.
 *
 * @throws Error when it is not the spelling of 32 bytes
 */
export function publicKeyOf(text: string): PublicKey {
  const key = kept.get(text) ?? new PublicKey(text);
  kept.set(text, key);
  return key;
}
