import { zstdDecompressSync } from 'node:zlib';

/** Fields that say when and where something happened: of them only the kind is compared. */
const VOLATILE = new Set([
  ...['slot', 'blockTime', 'blockHeight', 'parentSlot', 'lastValidBlockHeight', 'absoluteSlot'],
  ...['transactionIndex', 'slotIndex', 'contextSlot', 'parent', 'root', 'epoch'],
  ...['transactionCount', 'subscription'],
  ...['blockhash', 'previousBlockhash', 'recentBlockhash', 'signature', 'signatures', 'identity'],
  ...['confirmations', 'confirmationStatus', 'circulating', 'total', 'rentEpoch'],
  ...['apiVersion', 'feature-set', 'solana-core'],
]);

/** Something that is not the same: where, and what both say. */
export interface Difference {
  readonly path: string;
  readonly local: unknown;
  readonly other: unknown;
}

/**
 * An answer without what differs between any two ledgers.
 *
 * @param names what addresses are called, so that both ledgers' are the same
 */
export function normalize(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') {
    let text = value;
    for (const [address, name] of names) text = text.replaceAll(address, name);
    return text;
  }
  if (Array.isArray(value)) {
    const [data, encoding] = value;
    // Compressors differ; what was compressed must not.
    if (encoding === 'base64+zstd') {
      return [zstdDecompressSync(Buffer.from(data, 'base64')).toString('base64'), encoding];
    }
    return value.map((item) => normalize(item, names));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      VOLATILE.has(key) ? kindOf(key, inner) : normalize(inner, names),
    ]),
  );
}

/** The kind of a value, as `<number>`. Of a time, seconds are one kind and milliseconds another. */
function kindOf(key: string, value: unknown): string {
  if (key === 'blockTime') return `<${String(value).length} digits>`;
  // Whether what is confirmed is final as well depends on the moment.
  if (key === 'confirmations') return '<number or null>';
  if (key === 'confirmationStatus') return value === 'finalized' ? 'confirmed' : String(value);
  if (value === null) return '<null>';
  return Array.isArray(value) ? '<array>' : `<${typeof value}>`;
}

/** Every place in which two answers differ. A field that is missing is undefined. */
export function differencesOf(local: unknown, other: unknown, path: string): Difference[] {
  if (isObject(local) && isObject(other)) {
    const keys = [...new Set([...Object.keys(local), ...Object.keys(other)])];
    return keys.flatMap((key) => differencesOf(local[key], other[key], `${path}.${key}`));
  }
  return JSON.stringify(local) === JSON.stringify(other) ? [] : [{ path, local, other }];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
