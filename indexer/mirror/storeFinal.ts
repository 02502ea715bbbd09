import { atomically } from '../apply/atomically.ts';
import { listPages, OVERLAP_SLOTS } from '../source/listPages.ts';
import { moveCursor, selectCursor } from '../statements/cursors.ts';
import { markFinalized } from '../statements/finality.ts';
import { applyMissing } from './applyMissing.ts';
import type { MirrorContext } from './context.ts';

/**
 * Stores what is final and marks it so, with a cursor of its own, since the two commitments list
 * different slots. A transaction that a sweep missed is found here, too.
 *
 * @param slotMax how far to go at most
 */
export async function storeFinal(context: MirrorContext, slotMax: bigint): Promise<void> {
  const { database, source, announcer } = context;
  const cursor = await selectCursor(database, 'finalized');
  if (slotMax <= cursor) return;
  const commitment = 'finalized';
  const slot = cursor - OVERLAP_SLOTS;
  const pages = source.listFinal?.({ slot, slotMax }) ?? listPages(source, { commitment, slot });
  for await (const page of pages) {
    const final = page.filter(({ slot }) => slot <= slotMax);
    await applyMissing(context, final);
    await atomically(database, async () => {
      const signatures = final.map(({ signature }) => signature);
      await markFinalized(database, signatures);
      await announcer?.release(database, signatures);
      await moveCursors(context, final.at(-1)?.slot ?? cursor);
    });
  }
  await moveCursors(context, slotMax);
}

/** What is final was confirmed before, so a sweep need not look for it again. */
async function moveCursors({ database }: MirrorContext, slot: bigint): Promise<void> {
  await moveCursor(database, 'finalized', slot);
  await moveCursor(database, 'confirmed', slot);
}
