import type { Database } from '../../common/postgres.ts';
import type { ListedTransaction } from '../source/source.ts';
import { selectCursor } from '../statements/cursors.ts';
import { selectStored } from '../statements/selectStored.ts';

/** How far the mirror had come at one moment. */
export interface Swept {
  readonly cursorSlot: bigint;
  /** Whether everything up to the transaction had been stored, or passed over. */
  holds(listed: ListedTransaction): boolean;
}

/** @param listed those that will be asked about */
export async function selectSwept(
  database: Database,
  listed: readonly ListedTransaction[],
): Promise<Swept> {
  const cursorSlot = await selectCursor(database, 'confirmed');
  // A sweep that ended within a slot has stored a part of it.
  const within = listed.filter(({ slot }) => slot === cursorSlot);
  const signatures = within.map(({ signature }) => signature);
  const stored = await selectStored(database, signatures);
  return {
    cursorSlot,
    holds: ({ signature, slot, failed }) =>
      slot < cursorSlot || (slot === cursorSlot && (failed || stored.has(signature))),
  };
}
