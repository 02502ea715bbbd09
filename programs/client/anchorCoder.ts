import anchor from '@coral-xyz/anchor';
import { camelCase, IDL, type Value } from './codec.ts';

/** Anchor's own coder over the IDL. Verification reads by `codec.ts`, which needs no Anchor. */
export const coder = new anchor.BorshCoder(IDL);

/** What Anchor's coder decoded, with names and values as `types.ts` declares them. */
export function fromCoder(decoded: Record<string, unknown>): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(decoded).map(([name, value]) => [camelCase(name), fromCoderValue(value)]),
  );
}

/** The inverse, for one argument: the coder takes everything but bigint as it is. */
export function toCoder(value: Value): Exclude<Value, bigint> | InstanceType<typeof anchor.BN> {
  return typeof value === 'bigint' ? new anchor.BN(value.toString()) : value;
}

function fromCoderValue(value: unknown): Value {
  if (anchor.BN.isBN(value)) return BigInt(String(value));
  // Every array of numbers in the interface is one of bytes; the other arrays hold keys.
  if (Array.isArray(value) && typeof value[0] === 'number') return Uint8Array.from(value);
  return value as Value;
}
