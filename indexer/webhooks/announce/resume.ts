import type { Database } from '../../../common/postgres.ts';
import { atomically } from '../../apply/atomically.ts';
import { type Announcer, type Announcing, createAnnouncer } from './announcer.ts';
import { selectFinalHeld } from './heldDeliveries.ts';
import { resetPosition, selectPosition } from './position.ts';

/**
 * Goes on announcing where this or another process left off. In a mirror that was emptied since,
 * what was announced before is found again, and not announced again. In one that was made anew
 * beside the old one, transactions may be final of which nobody was told that they are.
 *
 * On a new installation, nothing that happened before it is announced: nobody had asked to be told.
 *
 * @param options.database the connection that writes the mirror
 * @param options.sweptSlot the mirror's cursor
 * @param options.ledgerSlot asked on a new installation only
 */
export async function resumeAnnouncing(options: {
  database: Database;
  announcing: Announcing;
  sweptSlot: bigint;
  ledgerSlot: () => Promise<bigint>;
}): Promise<Announcer> {
  const { database, announcing, sweptSlot, ledgerSlot } = options;
  let position = await selectPosition(database);
  if (position === undefined) {
    position = await resetPosition(database, await ledgerSlot());
  } else if (sweptSlot < position.sweptSlot) {
    position = await resetPosition(database, position.sweptSlot);
  }
  const announcer = createAnnouncer(announcing, position.floorSlot);
  await atomically(database, async () => {
    await announcer.release(database, await selectFinalHeld(database));
  });
  return announcer;
}
