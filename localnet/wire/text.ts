import { base58 } from '@scure/base';
import { LRUCache } from 'lru-cache';
import { lookUp } from '../../programs/client/keys.ts';
import { nameOfBytes } from '../../programs/client/platform/bytes.ts';

// The same few addresses are encoded again and again, and base58 takes quadratic time.

/** About 3 MB when full. */
const CACHED_MAX = 20_000;
const texts = new LRUCache<string, string>({ max: CACHED_MAX });

/** An address or blockhash in base58. */
export function addressText(bytes: Uint8Array): string {
  return lookUp(texts, nameOfBytes(bytes), () => base58.encode(bytes));
}

/** Node ignores invalid base64 characters, but a cluster refuses them. */
export function decodeBase64(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

/** An answer that is already JSON text. */
export class Serialized {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** An unsigned number for JSON: exact, also beyond the range of a double. */
export function exact(value: bigint): unknown {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : rawJson(String(value));
}

export function serialize(value: unknown): string {
  return value instanceof Serialized ? value.text : JSON.stringify(value);
}

/** Parses JSON without rounding: numbers beyond the range of a double keep their text. */
export function parseExact(text: string): unknown {
  return parseWithSource(text, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined && !Number.isSafeInteger(value)
      ? rawJson(source)
      : value,
  );
}

const parseWithSource = JSON.parse as (
  text: string,
  revive: (key: string, value: unknown, context: { source?: string }) => unknown,
) => unknown;
/** TypeScript lacks its type. */
const { rawJSON: rawJson } = JSON as typeof JSON & { rawJSON(text: string): unknown };
