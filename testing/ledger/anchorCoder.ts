import anchor from '@coral-xyz/anchor';
import { camelCase, type FieldType, IDL, type Value } from '../../programs/client/codec.ts';

/** Anchor's own coder over the IDL: what this client's own codec and builders are compared with. */
export const coder = new anchor.BorshCoder(IDL);

/** What Anchor's coder decoded, with names and values as `generated/types.ts` declares them. */
export function fromCoder(decoded: Record<string, unknown>): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(decoded).map(([name, value]) => [camelCase(name), fromCoderValue(value)]),
  );
}

/**
 * The inverse, for one value: the coder takes bigint as BN and a word as an object with one key.
 *
 * @param type as the IDL spells it; told where the value may be a word
 */
export function toCoder(value: Value, type?: FieldType): unknown {
  if (typeof value === 'bigint') return new anchor.BN(value.toString());
  const isWord = typeof type === 'object' && 'defined' in type;
  return isWord ? { [camelCase(`_${value}`)]: {} } : value;
}

function fromCoderValue(value: unknown): Value {
  if (anchor.BN.isBN(value)) return BigInt(String(value));
  // Every array of numbers in the interface is one of bytes; the other arrays hold keys.
  if (Array.isArray(value) && typeof value[0] === 'number') return Uint8Array.from(value);
  return wordOf(value) ?? (value as Value);
}

/** `{ UpheldGateway: {} }` or `{ upheldGateway: {} }` → `upheld_gateway`; else undefined. */
function wordOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return;
  const [name = ''] = Object.keys(value as object);
  return name.replace(/(?<=.)[A-Z]/g, '_$&').toLowerCase();
}
