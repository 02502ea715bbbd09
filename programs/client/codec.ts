import anchor from '@coral-xyz/anchor';
import type { PublicKey } from '@solana/web3.js';
import idl from './idl.json' with { type: 'json' };

/** The published interface, as Anchor's own tools read it. */
export const IDL = idl as anchor.Idl;

/** Reads and writes the program's bytes as the IDL says. */
export const coder = new anchor.BorshCoder(IDL);

/** A value of an instruction, account or event in this client's types; u64 and i64 are bigint. */
export type Value = bigint | number | boolean | string | PublicKey | Uint8Array | PublicKey[];

/** `credits_per_1k_tokens` → `creditsPer1kTokens`: the IDL's names as TypeScript spells them. */
export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}

/**
 * A decoded struct with names and values as `types.ts` declares them. The only place that knows
 * how Anchor's coder represents things: 64-bit integers as BN, bytes as arrays of numbers.
 */
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
