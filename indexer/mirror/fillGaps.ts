import { listPages } from '../source/listPages.ts';
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
  for (const { address, slot } of gaps) {
    for await (const page of listPages(source, { commitment, slot, address })) {
      await applyMissing(context, page);
    }
  }
  return gaps.map(({ address }) => address);
}
