import { applyTransaction } from '../apply/applyTransaction.ts';
import { atomically } from '../apply/atomically.ts';
import { rollBack } from '../apply/rollBack.ts';
import type { MirrorContext } from './context.ts';
import { tellOf } from './tell.ts';

/**
 * Takes back a transaction that is not, or no longer, where it was found. One that has landed again
 * is applied from there in the same database transaction, since the cursors may have passed its
 * slot: with other sequences, balances and times, it is another change under the same signature.
 *
 * @param slot where the ledger has it now; undefined when it is lost
 */
export async function takeBack(
  context: MirrorContext,
  signature: string,
  slot: bigint | undefined,
): Promise<void> {
  const { database, source, addresses, announcer, onFolded } = context;
  const landed = slot === undefined ? null : await source.read({ signature, slot, failed: false });
  const folded = await atomically(database, async () => {
    await rollBack(database, signature, addresses, announcer);
    return landed ? applyTransaction(database, landed, addresses, tellOf(context)) : [];
  });
  onFolded(folded);
}
