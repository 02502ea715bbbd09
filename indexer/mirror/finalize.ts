import { atomically } from '../apply/atomically.ts';
import { markFinalized, selectUnfinalized } from '../statements/finality.ts';
import type { MirrorContext } from './context.ts';
import { storeFinal } from './storeFinal.ts';
import { takeBack } from './takeBack.ts';

/**
 * A transaction this many slots below a final one has a dead blockhash. Slots without a block let it
 * live a little longer: one that lands even then is found like a new one.
 */
const BLOCKHASH_SLOTS = 150n;
/** The most signatures that a node takes in one question. */
const LOST_MAX = 256;

/**
 * Marks what became final, and takes back what has vanished from the ledger or has moved on it.
 *
 * @returns the signatures taken back
 */
export async function finalize(context: MirrorContext): Promise<string[]> {
  // Asked first: what is listed afterwards includes every slot up to this one.
  const finalizedSlot = await context.source.slot('finalized');
  const moved = await storeFinal(context, finalizedSlot);
  return [...moved, ...(await takeBackLost(context, finalizedSlot))];
}

async function takeBackLost(context: MirrorContext, finalizedSlot: bigint): Promise<string[]> {
  const { database, source, announcer } = context;
  const slotMax = finalizedSlot - BLOCKHASH_SLOTS;
  const overdue = await selectUnfinalized(database, { slotMax, limit: LOST_MAX });
  if (overdue.length === 0) return [];
  // A node that is behind has not seen everything that it does not know.
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
  for (const signature of lost) await takeBack(context, signature, slots.get(signature));
  await atomically(database, async () => {
    await markFinalized(database, final);
    await announcer?.release(database, final);
  });
  return lost;
}
