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
