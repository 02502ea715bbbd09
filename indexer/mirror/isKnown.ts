import { selectNewestFinal } from '../statements/selectNewestFinal.ts';
import type { MirrorContext } from './context.ts';

/**
 * Whether the ledger knows a transaction before a slot (undefined: any) that is stored as final, so
 * that a list cannot end there. A node that keeps only the newest slots may have forgotten all of
 * them, and its list ends rightly.
 */
export async function isKnown(
  { database, source }: Pick<MirrorContext, 'database' | 'source'>,
  before: bigint | undefined,
): Promise<boolean> {
  const newest = await selectNewestFinal(database, before);
  return newest !== undefined && (await source.locate([newest.signature], newest.slot)).size > 0;
}
