import anchor from '@coral-xyz/anchor';
import { IDL, type Value } from '../../programs/client/codec.ts';
import { camelCase, type FieldType } from '../../programs/client/interface.ts';

/** Anchor's coder over the IDL, to compare with this client's codec and builders. */
export const coder = new anchor.BorshCoder(IDL);

/** Converts what Anchor's coder decoded to the names and values of `generated/types.ts`. */
export function fromCoder(decoded: Record<string, unknown>): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(decoded).map(([name, value]) => [camelCase(name), fromCoderValue(value)]),
  );
}

/**
 * The inverse, for one value: the coder takes bigint as BN and an enum word as an object of one key.
 *
 * @param type the type in the IDL; required when the value may be an enum word
 */
export function toCoder(value: Value, type?: FieldType): unknown {
  if (typeof value === 'bigint') return new anchor.BN(value.toString());
  const isWord = typeof type === 'object' && 'defined' in type;
  return isWord ? { [camelCase(`_${value}`)]: {} } : value;
}

function fromCoderValue(value: unknown): Value {
  if (anchor.BN.isBN(value)) return BigInt(String(value));
  // Every array of numbers in the IDL is bytes; the other arrays hold keys.
  if (Array.isArray(value) && typeof value[0] === 'number') return Uint8Array.from(value);
  return wordOf(value) ?? (value as Value);
}

/** `{ UpheldGateway: {} }` or `{ upheldGateway: {} }` → `upheld_gateway`; else undefined. */
function wordOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return;
  const [name = ''] = Object.keys(value as object);
  return name.replace(/(?<=.)[A-Z]/g, '_$&').toLowerCase();
}
