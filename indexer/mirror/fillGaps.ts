import { listFrom } from '../source/listFrom.ts';
import { selectGaps } from '../statements/selectGaps.ts';
import { applyMissing } from './applyMissing.ts';
import type { MirrorContext } from './context.ts';

/**
 * Looks for what held events wait for in the history of the very account that lacks a change: a
 * sweep that was given an incomplete list may have passed it long ago.
 *
 * @returns the accounts that lack a change
 */
export async function fillGaps(context: MirrorContext): Promise<string[]> {
  const { database, source, commitment } = context;
  const gaps = await selectGaps(database);
  for (const address of gaps) {
    await applyMissing(context, await listFrom(source, { commitment, slot: 0n, address }));
  }
  return gaps;
}
