import { applyTransaction } from '../apply/applyTransaction.ts';
import { atomically } from '../apply/atomically.ts';
import { RetryableError } from '../errors.ts';
import { readAhead } from '../source/readAhead.ts';
import type { ListedTransaction } from '../source/source.ts';
import { selectStored } from '../statements/selectStored.ts';
import type { MirrorContext } from './context.ts';
import { tellOf } from './tell.ts';

/**
 * Applies those of the listed transactions that are not stored yet, in the given order, each in a
 * database transaction of its own.
 *
 * @param alsoApply what else belongs into the same database transaction
 * @returns how many were applied
 * @throws RetryableError when the signal aborts; what is left is found again
 */
export async function applyMissing(
  context: MirrorContext,
  listed: readonly ListedTransaction[],
  alsoApply: (transaction: { slot: bigint }) => Promise<void> = async () => {},
): Promise<number> {
  const { database, source, addresses, onFolded, signal } = context;
  const tell = tellOf(context);
  const succeeded = listed.filter(({ failed }) => !failed);
  const stored = await selectStored(
    database,
    succeeded.map(({ signature }) => signature),
  );
  const missing = succeeded.filter(({ signature }) => !stored.has(signature));
  for await (const transaction of readAhead(source, missing)) {
    if (signal.aborted) throw new RetryableError('Stopped before everything was applied');
    const folded = await atomically(database, async () => {
      await alsoApply(transaction);
      return applyTransaction(database, transaction, addresses, tell);
    });
    onFolded(folded);
  }
  return missing.length;
}
