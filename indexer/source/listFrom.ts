import { RetryableError } from '../errors.ts';
import type { Commitment, LedgerSource, ListedTransaction } from './source.ts';

/** Enough for what happens between two sweeps. */
const FIRST_PAGE = 100;
/** The most that a node lists at once. */
const PAGE = 1_000;

/**
 * Lists everything from a slot on, oldest first: all transactions of the program, or those of one
 * account. The ledger lists newest first, so all pages are
 * held until the slot is reached: whoever stored the newest page first and died would never come
 * back for the others.
 *
 * The end is known by slots, not by a signature that the ledger may have forgotten: asked for what
 * came after an unknown signature, it answers with the newest page as if nothing were wrong.
 */
export async function listFrom(
  source: LedgerSource,
  query: { commitment: Commitment; slot: bigint; address?: string },
): Promise<ListedTransaction[]> {
  const newestFirst = new Map<string, ListedTransaction>();
  let oldest: ListedTransaction | undefined;
  do {
    const page = await source.list({
      ...query,
      before: oldest?.signature,
      limit: oldest ? PAGE : FIRST_PAGE,
    });
    for (const listed of page) {
      // The same goes for `before`; and without this, the loop might have no end.
      if (newestFirst.has(listed.signature)) {
        throw new RetryableError(`The ledger listed ${listed.signature} twice`);
      }
      newestFirst.set(listed.signature, listed);
    }
    // A short page is not trusted to be the last one: rows can be missing from it.
    oldest = page.at(-1);
  } while (oldest && oldest.slot >= query.slot);
  return [...newestFirst.values()].filter(({ slot }) => slot >= query.slot).reverse();
}
