import { listPages, OVERLAP_SLOTS } from '../source/listPages.ts';
import { moveCursors, selectCursor } from '../statements/cursors.ts';
import { applyMissing } from './applyMissing.ts';
import type { MirrorContext } from './context.ts';
import { isKnown } from './isKnown.ts';

/**
 * Applies everything that the ledger has and the mirror lacks, oldest first. The cursor moves in
 * the database transaction of what it passes, so that a process that dies leaves nothing out.
 *
 * @returns how many transactions were applied
 */
export async function sweep(context: MirrorContext): Promise<number> {
  const { database, source, commitment } = context;
  const cursor = await selectCursor(database, 'confirmed');
  const pages = listPages(source, {
    commitment,
    slot: cursor - OVERLAP_SLOTS,
    isKnown: (before) => isKnown(context, before),
  });
  let applied = 0;
  for await (const page of pages) {
    applied += await applyMissing(context, page, ({ slot }) =>
      moveCursors(database, ['confirmed'], slot),
    );
    // Failed transactions have nothing to store, but they need not be listed again either.
    const newest = page.at(-1);
    if (newest && newest.slot > cursor) await moveCursors(database, ['confirmed'], newest.slot);
  }
  return applied;
}
