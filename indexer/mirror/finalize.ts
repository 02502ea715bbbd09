import type { Commitment } from '../../common/net/commitment.ts';
import { listPages, OVERLAP_SLOTS } from '../source/listPages.ts';
import type { ListedTransaction, SlotRange } from '../source/source.ts';
import {
  markFinalized,
  moveCursors,
  selectCursor,
  selectStored,
  selectUnfinalized,
} from '../sql/progress.ts';
import { atomically } from '../sql/writeChanges.ts';
import type { MirrorContext } from './progress.ts';
import { revertAndReapply } from './revert.ts';
import { applyMissing, isKnown } from './sweep.ts';

/** What is final was confirmed before, so a sweep need not look for it again. */
const REACHED: readonly Commitment[] = ['confirmed', 'finalized'];

/**
 * Stores what is final and marks it so, with a cursor of its own, since the two commitments list
 * different slots. It also finds a transaction that a sweep missed, and reverts one that a sweep
 * found on an abandoned fork.
 *
 * @param slotMax how far to go at most
 * @returns the signatures of what was stored otherwise, and reverted
 */
export async function storeFinal(context: MirrorContext, slotMax: bigint): Promise<string[]> {
  const { database, source, outbox } = context;
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
    moved.push(...(await revertMoved(context, final)));
    await applyMissing(context, final, { commitment: 'finalized' });
    await atomically(database, async () => {
      const signatures = final.map(({ signature }) => signature);
      await markFinalized(database, signatures);
      await outbox?.markFinal(database, signatures);
      await moveCursors(database, REACHED, final.at(-1)?.slot ?? cursor);
    });
  }
  await moveCursors(database, REACHED, slotMax);
  return moved;
}

/** Reverts what is stored of final transactions as it was on another fork. */
async function revertMoved(
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
    await revertAndReapply(context, signature, failed ? undefined : slot);
  }
  return moved.map(({ signature }) => signature);
}

/**
 * A transaction this many slots below a final one has a dead blockhash. Slots without a block let it
 * live a little longer. One that still lands is found like a new one.
 */
const BLOCKHASH_SLOTS = 150n;
/** The most signatures that a node takes in one request. */
const LOST_MAX = 256;

/**
 * Marks what became final, and reverts what has vanished from the ledger or has moved on it.
 *
 * @returns the signatures of what it reverted
 */
export async function finalize(context: MirrorContext): Promise<string[]> {
  // Read first: what is listed afterwards includes every slot up to this one.
  const finalizedSlot = await context.source.slot('finalized');
  const moved = await storeFinal(context, finalizedSlot);
  return [...moved, ...(await revertLost(context, finalizedSlot))];
}

async function revertLost(context: MirrorContext, finalizedSlot: bigint): Promise<string[]> {
  const { database, source, outbox } = context;
  const slotMax = finalizedSlot - BLOCKHASH_SLOTS;
  const overdue = await selectUnfinalized(database, { slotMax, limit: LOST_MAX });
  if (overdue.length === 0) return [];
  // A node that is behind may not have seen them yet, so it has to have reached this slot.
  const slots = await source.locate(
    overdue.map(({ signature }) => signature),
    finalizedSlot,
  );
  const lost: string[] = [];
  const final: string[] = [];
  for (const { signature, slot } of overdue) {
    const isThere = slots.get(signature) === slot;
    (isThere ? final : lost).push(signature);
  }
  for (const signature of lost) await revertAndReapply(context, signature, slots.get(signature));
  await atomically(database, async () => {
    await markFinalized(database, final);
    await outbox?.markFinal(database, final);
  });
  return lost;
}
