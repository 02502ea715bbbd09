import { base58 } from '@scure/base';
import { PublicKey } from '#publicKey';
import { areBytesEqual } from './platform/bytes.ts';

/** The bytes of a base58 text; undefined when it is none. */
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

interface Cache<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: NoInfer<Value>): unknown;
}

/** What the cache has under the key, else what is made of it; that is kept unless it is undefined. */
export function lookUp<Key, Value, Made extends Value | undefined>(
  cache: Cache<Key, Value>,
  key: Key,
  make: () => Made,
): Value | Made {
  const found = cache.get(key);
  if (found !== undefined) return found;
  const made = make();
  if (made !== undefined) cache.set(key, made);
  return made;
}

/** Keeps at most `max` values; a new one takes the place of the oldest. */
export function createBoundedCache<Key, Value>(max: number): Cache<Key, Value> {
  const entries = new Map<Key, Value>();
  return {
    get: (key) => entries.get(key),
    set(key, value) {
      if (entries.size >= max && !entries.has(key)) {
        const oldest = entries.keys().next();
        if (!oldest.done) entries.delete(oldest.value);
      }
      entries.set(key, value);
    },
  };
}

/** Wallets and workers in use: each is asked for with every job. */
const KEYS_KEPT_MAX = 10_000;
const kept = createBoundedCache<string, PublicKey>(KEYS_KEPT_MAX);

const spellings = new WeakMap<PublicKey, string>();

/**
 * The key that is spelled so. Reading base58 costs more than it seems, and so does spelling it: the
 * same object each time lets what is found for a key be kept with it.
 *
 * @throws Error when it is not the spelling of 32 bytes
 */
export function publicKeyOf(text: string): PublicKey {
  return lookUp(kept, text, () => new PublicKey(text));
}

/** How a key is spelled, which is found once for each object. */
export function toBase58(key: PublicKey): string {
  return lookUp(spellings, key, () => key.toBase58());
}
