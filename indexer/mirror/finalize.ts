import { atomically } from '../apply/atomically.ts';
import { rollBack } from '../apply/rollBack.ts';
import { markFinalized, selectUnfinalized } from '../statements/finality.ts';
import type { MirrorContext } from './context.ts';
import { storeFinal } from './storeFinal.ts';

/** A transaction this many slots below a final one has a dead blockhash: it cannot land any more. */
const BLOCKHASH_SLOTS = 150n;
/** The most signatures that a node takes in one question. */
const LOST_MAX = 256;

/**
 * Marks what became final, and takes back what has vanished from the ledger.
 *
 * @returns the signatures taken back
 */
export async function finalize(context: MirrorContext): Promise<string[]> {
  // Asked first: what is listed afterwards includes every slot up to this one.
  const finalizedSlot = await context.source.slot('finalized');
  await storeFinal(context, finalizedSlot);
  return takeBackLost(context, finalizedSlot - BLOCKHASH_SLOTS);
}

async function takeBackLost(context: MirrorContext, slotMax: bigint): Promise<string[]> {
  const { database, source, addresses, announcer } = context;
  const overdue = await selectUnfinalized(database, { slotMax, limit: LOST_MAX });
  if (overdue.length === 0) return [];
  const lost = await source.findLost(overdue);
  for (const signature of lost) {
    await atomically(database, () => rollBack(database, signature, addresses, announcer));
  }
  const final = overdue.filter((signature) => !lost.includes(signature));
  await atomically(database, async () => {
    await markFinalized(database, final);
    await announcer?.release(database, final);
  });
  return lost;
}
