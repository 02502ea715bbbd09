import { base58 } from '@scure/base';
import { PublicKey } from '#platform';
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

/** The cached value of the key, else the made one, which is cached unless it is undefined. */
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

/** Keeps at most `max` values, a new one in place of the oldest. The package has no dependency for it. */
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

/** Wallets and workers in use: each is looked up with every job. */
const KEYS_KEPT_MAX = 10_000;
const kept = createBoundedCache<string, PublicKey>(KEYS_KEPT_MAX);

const texts = new WeakMap<PublicKey, string>();

/**
 * The key of a base58 text, the same object each time, so that other caches find it by the object.
 * Base58 is slow both ways.
 *
 * @throws Error when the text is not the base58 of 32 bytes
 */
export function publicKeyOf(text: string): PublicKey {
  return lookUp(kept, text, () => new PublicKey(text));
}

/** A key in base58, encoded once for each object. */
export function toBase58(key: PublicKey): string {
  return lookUp(texts, key, () => key.toBase58());
}
