import { atomically } from '../apply/atomically.ts';
import { listPages, OVERLAP_SLOTS } from '../source/listPages.ts';
import type { Commitment, ListedTransaction, SlotRange } from '../source/source.ts';
import { moveCursors, selectCursor } from '../statements/cursors.ts';
import { markFinalized } from '../statements/finality.ts';
import { selectStored } from '../statements/selectStored.ts';
import { applyMissing } from './applyMissing.ts';
import type { MirrorContext } from './context.ts';
import { isKnown } from './isKnown.ts';
import { takeBack } from './takeBack.ts';

/** What is final was confirmed before, so a sweep need not look for it again. */
const REACHED: readonly Commitment[] = ['confirmed', 'finalized'];

/**
 * Stores what is final and marks it so, with a cursor of its own, since the two commitments list
 * different slots. A transaction that a sweep missed is found here, too; and one that a sweep found
 * on a fork which was abandoned is corrected.
 *
 * @param slotMax how far to go at most
 * @returns the signatures of what was stored otherwise, and taken back
 */
export async function storeFinal(context: MirrorContext, slotMax: bigint): Promise<string[]> {
  const { database, source, announcer } = context;
  const cursor = await selectCursor(database, 'finalized');
  if (slotMax <= cursor) return [];
  const range: SlotRange = {
    slot: cursor - OVERLAP_SLOTS,
    slotMax,
    isKnown: (before) => isKnown(context, before),
  };
  const pages =
    source.listFinal?.(range) ?? listPages(source, { commitment: 'finalized', ...range });
  const moved: string[] = [];
  for await (const page of pages) {
    const final = page.filter(({ slot }) => slot <= slotMax);
    moved.push(...(await takeBackMoved(context, final)));
    await applyMissing(context, final);
    await atomically(database, async () => {
      const signatures = final.map(({ signature }) => signature);
      await markFinalized(database, signatures);
      await announcer?.release(database, signatures);
      await moveCursors(database, REACHED, final.at(-1)?.slot ?? cursor);
    });
  }
  await moveCursors(database, REACHED, slotMax);
  return moved;
}

/** Takes back what is stored of final transactions as it was on another fork. */
async function takeBackMoved(
  context: MirrorContext,
  final: readonly ListedTransaction[],
): Promise<string[]> {
  const stored = await selectStored(
    context.database,
    final.map(({ signature }) => signature),
  );
  const moved = final.filter(
    ({ signature, slot, failed }) =>
      stored.has(signature) && (failed || stored.get(signature) !== slot),
  );
  for (const { signature, slot, failed } of moved) {
    await takeBack(context, signature, failed ? undefined : slot);
  }
  return moved.map(({ signature }) => signature);
}
