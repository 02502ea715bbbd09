import { applyBatch } from '../apply/applyBatch.ts';
import { applyTransaction } from '../apply/applyTransaction.ts';
import { atomically } from '../apply/atomically.ts';
import type { LedgerEvent, LedgerTransaction } from '../decode.ts';
import { classify, RetryableError } from '../errors.ts';
import { readAhead } from '../source/readAhead.ts';
import type { ListedTransaction } from '../source/source.ts';
import { selectStored } from '../statements/selectStored.ts';
import type { MirrorContext } from './context.ts';
import { tellOf } from './tell.ts';

type AlsoApply = (transaction: { slot: bigint }) => Promise<void>;

/**
 * Applies those of the listed transactions that are not stored yet, in the given order.
 *
 * @param alsoApply what else belongs into the database transaction that ends with this transaction
 * @returns how many were applied
 * @throws RetryableError when the signal aborts; what is left is found again
 */
export async function applyMissing(
  context: MirrorContext,
  listed: readonly ListedTransaction[],
  alsoApply?: AlsoApply,
): Promise<number> {
  const succeeded = listed.filter(({ failed }) => !failed);
  const stored = await selectStored(
    context.database,
    succeeded.map(({ signature }) => signature),
  );
  const missing = succeeded.filter(({ signature }) => !stored.has(signature));
  await applyNew(context, missing, alsoApply);
  return missing.length;
}

/**
 * Applies successful transactions that are hardly stored yet, in the given order; one that is, is
 * left as it is. Those that have been read by the time that the ones before are applied share a
 * database transaction; where one of them cannot, each has its own.
 *
 * @throws RetryableError as `applyMissing` does
 */
export async function applyNew(
  context: MirrorContext,
  missing: readonly ListedTransaction[],
  alsoApply: AlsoApply = async () => {},
): Promise<void> {
  const { database, source, addresses, onFolded, signal } = context;
  const tell = tellOf(context);

  async function store(
    last: LedgerTransaction,
    apply: () => Promise<LedgerEvent[]>,
  ): Promise<LedgerEvent[]> {
    if (signal.aborted) throw new RetryableError('Stopped before everything was applied');
    return atomically(database, async () => {
      await alsoApply(last);
      return apply();
    });
  }

  /** @returns null where one of them stands in the way, which shows when each is stored alone */
  async function storeTogether(batch: readonly LedgerTransaction[]): Promise<LedgerEvent[] | null> {
    const last = batch.at(-1);
    if (!last || batch.length === 1) return null;
    try {
      return await store(last, () => applyBatch(database, batch, addresses, tell));
    } catch (error) {
      if (classify(error) instanceof RetryableError) throw error;
      return null;
    }
  }

  for await (const batch of readAhead(source, missing)) {
    const folded = await storeTogether(batch);
    if (folded) {
      onFolded(folded);
      continue;
    }
    for (const transaction of batch) {
      onFolded(
        await store(transaction, () => applyTransaction(database, transaction, addresses, tell)),
      );
    }
  }
}
