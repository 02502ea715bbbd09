/** What a node's answer looks like, checked as far as it is used: a wrong form throws TypeError. */

export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields {
  if (typeof value === 'object' && value !== null) return value as Fields;
  throw new TypeError('No object');
}

export function listOf<Item>(value: unknown, read: (item: unknown) => Item): Item[] {
  if (Array.isArray(value)) return value.map(read);
  throw new TypeError('No list');
}

export function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  throw new TypeError('No number');
}

export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new TypeError('No text');
}

/** An answer with the slot of the state that it speaks of. */
export interface AtSlot<Value> {
  readonly slot: number;
  readonly value: Value;
}

export function atSlot<Value>(read: (value: unknown) => Value) {
  return (result: unknown): AtSlot<Value> => {
    const { context, value } = fieldsOf(result);
    return { slot: numberOf(fieldsOf(context).slot), value: read(value) };
  };
}

export function orNull<Value>(read: (value: unknown) => Value) {
  return (value: unknown): Value | null => (value === null ? null : read(value));
}
