import type { LedgerTransaction } from '../decode.ts';
import type { LedgerSource, ListedTransaction } from './source.ts';

/** A node's answer takes longer than applying it, so this many are asked for at a time. */
const READS_AT_ONCE = 8;

/** Reads transactions in the given order, a few ahead of whoever takes them. */
export async function* readAhead(
  source: LedgerSource,
  listed: readonly ListedTransaction[],
): AsyncGenerator<LedgerTransaction> {
  const reading: Promise<LedgerTransaction>[] = [];
  for (const [index, { signature, slot, failed }] of listed.entries()) {
    const transaction = source.read({ signature, slot, failed });
    // A failure counts when its turn comes, and not at all if the reader has left before.
    transaction.catch(() => undefined);
    reading.push(transaction);
    if (index >= READS_AT_ONCE - 1) yield await (reading.shift() as Promise<LedgerTransaction>);
  }
  for (const transaction of reading) yield await transaction;
}
