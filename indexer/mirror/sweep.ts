import { listFrom } from '../source/listFrom.ts';
import { moveCursor, selectCursor } from '../statements/cursors.ts';
import { applyMissing } from './applyMissing.ts';
import type { MirrorContext } from './context.ts';

/**
 * Read again with every sweep: a node may list a transaction later than one of a later slot, and
 * nodes do not agree about the order within a slot.
 */
const OVERLAP_SLOTS = 32n;

/**
 * Applies everything that the ledger has and the mirror lacks, oldest first. The cursor moves in
 * the database transaction of what it passes, so that a process that dies leaves nothing out.
 *
 * @returns how many transactions were applied
 */
export async function sweep(context: MirrorContext): Promise<number> {
  const { database, source, commitment } = context;
  const cursor = await selectCursor(database, 'confirmed');
  const listed = await listFrom(source, { commitment, slot: cursor - OVERLAP_SLOTS });
  const applied = await applyMissing(context, listed, ({ slot }) =>
    moveCursor(database, 'confirmed', slot),
  );
  // Failed transactions have nothing to store, but they need not be listed again either.
  const newest = listed.at(-1);
  if (newest && newest.slot > cursor) await moveCursor(database, 'confirmed', newest.slot);
  return applied;
}
