import { atomically } from '../apply/atomically.ts';
import { rollBack } from '../apply/rollBack.ts';
import { listFrom } from '../source/listFrom.ts';
import { moveCursor, selectCursor } from '../statements/cursors.ts';
import { markFinalized, selectUnfinalized } from '../statements/finality.ts';
import { applyMissing } from './applyMissing.ts';
import type { MirrorContext } from './context.ts';

/** Read again each time, as in a sweep. */
const OVERLAP_SLOTS = 32n;
/** A transaction this many slots below a final one has a dead blockhash: it cannot land any more. */
const BLOCKHASH_SLOTS = 150n;
/** The most signatures that a node takes in one question. */
const LOST_MAX = 256;

/**
 * Marks what became final, with a cursor of its own, since the two commitments list different
 * slots. A transaction that a sweep missed is found here; one that has vanished from the ledger is
 * taken back.
 *
 * @returns the signatures taken back
 */
export async function finalize(context: MirrorContext): Promise<string[]> {
  const { database, source } = context;
  // Asked first: what is listed afterwards includes every slot up to this one.
  const finalizedSlot = await source.finalizedSlot();
  const cursor = await selectCursor(database, 'finalized');
  const listed = await listFrom(source, {
    commitment: 'finalized',
    slot: cursor - OVERLAP_SLOTS,
  });
  await applyMissing(context, listed);
  await atomically(database, async () => {
    const final = listed.filter(({ slot }) => slot <= finalizedSlot);
    await markFinalized(
      database,
      final.map(({ signature }) => signature),
    );
    await moveCursor(database, 'finalized', finalizedSlot);
  });
  return takeBackLost(context, finalizedSlot - BLOCKHASH_SLOTS);
}

async function takeBackLost(context: MirrorContext, slotMax: bigint): Promise<string[]> {
  const { database, source, addresses } = context;
  const overdue = await selectUnfinalized(database, { slotMax, limit: LOST_MAX });
  if (overdue.length === 0) return [];
  const lost = await source.findLost(overdue);
  for (const signature of lost) {
    await atomically(database, () => rollBack(database, signature, addresses));
  }
  await markFinalized(
    database,
    overdue.filter((signature) => !lost.includes(signature)),
  );
  return lost;
}
