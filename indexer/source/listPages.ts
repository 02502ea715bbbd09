import { RetryableError } from '../errors.ts';
import type { Commitment, LedgerSource, ListedTransaction } from './source.ts';

/** Enough for what happens between two sweeps. */
const FIRST_PAGE = 100;
/** The most that a node lists at once. */
const PAGE = 1_000;
/** So many pages are kept while the walk goes on; of the others only where they begin. */
const PAGES_KEPT = 4;

/**
 * Nodes list a transaction later than one of a later slot at times, and do not agree about the
 * order within a slot: so much is read again by whoever goes on where it was.
 */
export const OVERLAP_SLOTS = 32n;

interface Query {
  readonly commitment: Commitment;
  /** The slot down to which is listed. */
  readonly slot: bigint;
  readonly address?: string;
}

interface Page {
  /** Where it begins; undefined for the newest. */
  readonly before: ListedTransaction | undefined;
  /** Newest first; undefined where it was let go. */
  listed: readonly ListedTransaction[] | undefined;
}

/**
 * Lists everything from a slot on, oldest first, page by page: all transactions of the program, or
 * those of one account. The ledger lists newest first, so the walk has to reach the slot before
 * anything can be given out: whoever stored the newest page first and died would never come back
 * for the others. Of a long walk only the pages' beginnings are kept, a thousandth of it, and each
 * page is listed again when its turn comes, so that a history of any length fits into memory.
 *
 * The end is known by slots, not by a signature that the ledger may have forgotten: asked for what
 * came after an unknown signature, it answers with the newest page as if nothing were wrong.
 *
 * @throws RetryableError when the node contradicts itself
 */
export async function* listPages(
  source: LedgerSource,
  query: Query,
): AsyncGenerator<readonly ListedTransaction[]> {
  const pages: Page[] = [];
  let before: ListedTransaction | undefined;
  do {
    const listed = await listPage(source, query, before);
    pages.push({ before, listed });
    // The newest page stays: where it began has no name once others are before it.
    const passed = pages.at(-1 - PAGES_KEPT);
    if (passed?.before) passed.listed = undefined;
    // A short page is not trusted to be the last one: rows can be missing from it.
    before = listed.at(-1);
  } while (before && before.slot >= query.slot);
  for (let page = pages.pop(); page; page = pages.pop()) {
    const listed = page.listed ?? (await listBetween(source, query, page.before, before));
    yield listed.filter(({ slot }) => slot >= query.slot).reverse();
    before = page.before;
  }
}

/** The transactions before one and down to another, that one included; newest first. */
async function listBetween(
  source: LedgerSource,
  query: Query,
  newer: ListedTransaction | undefined,
  older: ListedTransaction | undefined,
): Promise<ListedTransaction[]> {
  const listed: ListedTransaction[] = [];
  let last = newer;
  do {
    listed.push(...(await listPage(source, query, last)));
    const end = listed.findIndex(({ signature }) => signature === older?.signature);
    if (end >= 0) return listed.slice(0, end + 1);
    last = listed.at(-1);
  } while (last && older && last.slot >= older.slot);
  throw new RetryableError(`The ledger no longer lists ${older?.signature}`);
}

async function listPage(
  source: LedgerSource,
  { commitment, address }: Query,
  before: ListedTransaction | undefined,
): Promise<ListedTransaction[]> {
  const page = await source.list({
    ...{ commitment, before: before?.signature, limit: before ? PAGE : FIRST_PAGE },
    ...(address !== undefined && { address }),
  });
  let previous = before;
  for (const listed of page) {
    // What holds for `until` holds for `before`; and without this, the walk might have no end.
    if (previous && (listed.slot > previous.slot || listed.signature === before?.signature)) {
      throw new RetryableError(`The ledger listed ${listed.signature} out of its order`);
    }
    previous = listed;
  }
  return page;
}
