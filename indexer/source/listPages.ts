import type { Commitment } from '../../common/net/commitment.ts';
import { RetryableError } from './errors.ts';
import type { LedgerSource, ListedTransaction, SlotRange } from './source.ts';

/** Enough for what happens between two sweeps. */
const FIRST_PAGE = 100;
/** The most that a node lists at once. */
const PAGE = 1_000;
/** So many pages are kept during the walk; of the others only where they begin. */
const PAGES_KEPT = 4;

/**
 * How much the next walk reads again. Nodes at times list a transaction later than one of a later
 * slot, and do not agree about the order within a slot.
 */
export const OVERLAP_SLOTS = 32n;

/** With `slotMax`, a node that has not reached it lists nothing. */
interface Query extends Partial<SlotRange> {
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
 * those of one account, each once. The ledger lists newest first, so the walk reaches the slot
 * before it gives anything out. A process that stored the newest page first and died would never
 * come back for the others. Of a long walk only the pages' beginnings are kept, a thousandth of it.
 * Each page is listed again when its turn comes, so that a history of any length fits into memory.
 *
 * The end is known by its slot, not by a signature that the ledger may have forgotten. For what came
 * after an unknown signature, a node answers with the newest page. Each slot is listed as a whole by
 * one node, see `lastOfSlotBefore`. An empty page ends the walk only where the history may begin:
 * what the walk passes is never listed again.
 *
 * @throws RetryableError when the node contradicts itself
 */
export async function* listPages(
  source: LedgerSource,
  query: Query,
): AsyncGenerator<readonly ListedTransaction[]> {
  const pages: Page[] = [];
  const nextBefore = createDescent();
  let before: ListedTransaction | undefined;
  let last: ListedTransaction | undefined;
  do {
    const listed = await listPage(source, query, before);
    pages.push({ before, listed });
    // The newest page stays: it has no beginning by which it could be listed again.
    const passed = pages.at(-1 - PAGES_KEPT);
    if (passed?.before) passed.listed = undefined;
    // A short page is not trusted to be the last one: rows can be missing from it.
    last = listed.at(-1);
    before = nextBefore(listed, before);
  } while (before && last && last.slot >= query.slot);
  const given = new Map<string, bigint>();
  for (let page = pages.pop(); page; page = pages.pop()) {
    const listed = page.listed ?? (await listBetween(source, query, page.before, before));
    const fresh = listed.filter(
      ({ slot, signature }) => slot >= query.slot && !given.has(signature),
    );
    yield fresh.reverse();
    // What pages share is in the slot where one ends and the next one begins.
    const newest = listed[0]?.slot ?? 0n;
    for (const [signature, slot] of given) if (slot < newest) given.delete(signature);
    for (const { signature, slot } of listed) given.set(signature, slot);
    before = page.before;
  }
}

/**
 * Where the next page begins: with the whole of this one's oldest slot, once more. Nodes do not
 * agree about the order within a slot, so after its last row another node might list too little.
 */
function lastOfSlotBefore(
  listed: readonly ListedTransaction[],
  before: ListedTransaction | undefined,
): ListedTransaction | undefined {
  const last = listed.at(-1);
  return listed.findLast(({ slot }) => last && slot > last.slot && (!before || slot < before.slot));
}

/**
 * Where each next page of a walk begins. Within a slot that fills a page it goes from row to row. It
 * begins at none twice: nodes that contradict each other would otherwise keep it in a circle.
 *
 * It throws RetryableError for an empty page that was to list a slot once more: that is no end.
 */
function createDescent(): typeof lastOfSlotBefore {
  let begun = new Set<string>();
  let reached: bigint | undefined;
  return (listed, before) => {
    const last = listed.at(-1);
    if (!last && before && reached !== undefined && before.slot > reached) {
      throw new RetryableError(`The ledger no longer lists what was before ${before.signature}`);
    }
    reached = last?.slot;
    if (before && last && last.slot < before.slot) begun = new Set();
    const next =
      lastOfSlotBefore(listed, before) ??
      listed.findLast(({ slot, signature }) => slot === last?.slot && !begun.has(signature));
    if (next) begun.add(next.signature);
    return next;
  };
}

/** Everything before one transaction, down to another and with all of that one's slot. */
async function listBetween(
  source: LedgerSource,
  query: Query,
  newer: ListedTransaction | undefined,
  older: ListedTransaction | undefined,
): Promise<ListedTransaction[]> {
  const rows = new Map<string, ListedTransaction>();
  const nextBefore = createDescent();
  let before = newer;
  let last: ListedTransaction | undefined;
  do {
    const listed = await listPage(source, query, before);
    for (const row of listed) rows.set(row.signature, row);
    last = listed.at(-1);
    before = nextBefore(listed, before);
  } while (before && last && older && last.slot >= older.slot);
  if (older && !rows.has(older.signature)) {
    throw new RetryableError(`The ledger no longer lists ${older.signature}`);
  }
  return [...rows.values()].filter(({ slot }) => !older || slot >= older.slot);
}

/**
 * Requests an empty page once more, and one that ends within the first slot it reaches: it may have
 * been cut short.
 */
async function listPage(
  source: LedgerSource,
  query: Query,
  before: ListedTransaction | undefined,
): Promise<ListedTransaction[]> {
  const page = await listOnce(source, query, before);
  if (lastOfSlotBefore(page, before)) return page;
  const again = await listOnce(source, query, before);
  const longer = again.length > page.length ? again : page;
  if (longer.length === 0 && (await query.isKnown?.(before?.slot))) {
    throw new RetryableError('The ledger lists nothing where it knows a transaction');
  }
  return longer;
}

async function listOnce(
  source: LedgerSource,
  { commitment, address, slotMax }: Query,
  before: ListedTransaction | undefined,
): Promise<ListedTransaction[]> {
  const page = await source.list({
    commitment,
    before: before?.signature,
    limit: before ? PAGE : FIRST_PAGE,
    ...(address !== undefined && { address }),
    ...(slotMax !== undefined && { nodeSlotMin: slotMax }),
  });
  let previous = before;
  for (const listed of page) {
    // A node that forgot `before` answers with the newest page, and the walk would not end.
    if (previous && (listed.slot > previous.slot || listed.signature === before?.signature)) {
      throw new RetryableError(`The ledger listed ${listed.signature} out of its order`);
    }
    previous = listed;
  }
  return page;
}
