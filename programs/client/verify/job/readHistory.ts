import type { PublicKey } from '@solana/web3.js';
import type { LedgerReader, ReadResult } from './ledgerReader.ts';

/** So many are read at once, and held, when the first few did not tell. */
const BATCH_MAX = 8;

/**
 * Reads what mentioned an address, newest first, for as long as the caller asks on. Anybody can
 * mention an address, any number of times, so that nothing that was read is kept here.
 *
 * @param range.before begins behind this transaction
 * @param range.slotMax passes over what came after this slot, without reading it
 */
export async function* readHistory(
  reader: LedgerReader,
  address: PublicKey,
  range: { before?: string; slotMax?: bigint } = {},
): AsyncGenerator<ReadResult> {
  // Almost always the very next one tells, so that reading ahead begins with nothing.
  let batchSize = 1;
  let batch: string[] = [];
  for await (const { signature, slot } of reader.list(address, range.before)) {
    if (range.slotMax !== undefined && slot > range.slotMax) continue;
    batch.push(signature);
    if (batch.length < batchSize) continue;
    yield* await Promise.all(batch.map(reader.read));
    batchSize = Math.min(2 * batchSize, BATCH_MAX);
    batch = [];
  }
  yield* await Promise.all(batch.map(reader.read));
}
