import type { Commitment } from '../../common/net/commitment.ts';
import { delay } from '../../common/wait.ts';
import { classify, RetryableError } from '../source/errors.ts';
import { listPages, OVERLAP_SLOTS } from '../source/listPages.ts';
import { readAhead } from '../source/readAhead.ts';
import type { LedgerSource, ListedTransaction } from '../source/source.ts';
import {
  moveCursors,
  selectCursor,
  selectGaps,
  selectNewestFinal,
  selectStored,
} from '../sql/progress.ts';
import { atomically } from '../sql/writeChanges.ts';
import { applyTransactions, type PreparedTransaction, prepare } from './apply.ts';
import { type MirrorContext, notifierOf, type Progress } from './progress.ts';

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

interface Applying {
  /** What else belongs into the database transaction that ends with this ledger transaction. */
  readonly alsoApply?: (transaction: { slot: bigint }) => Promise<void>;
  /** How sure the ledger is of what is applied; by default, as sure as it has to be at least. */
  readonly commitment?: Commitment;
}

/**
 * Applies those of the listed transactions that are not stored yet, in the given order.
 *
 * @returns how many were applied
 * @throws RetryableError when the signal aborts; what is left is found again
 */
export async function applyMissing(
  context: MirrorContext,
  listed: readonly ListedTransaction[],
  applying?: Applying,
): Promise<number> {
  const succeeded = listed.filter(({ failed }) => !failed);
  const stored = await selectStored(
    context.database,
    succeeded.map(({ signature }) => signature),
  );
  const missing = succeeded.filter(({ signature }) => !stored.has(signature));
  await applyNew(context, missing, applying);
  return missing.length;
}

/**
 * Applies successful transactions, in the given order; one that is stored already stays as it is.
 * Those that were read while the ones before were applied share a database transaction. Where one of
 * them has to wait, each gets its own.
 *
 * @throws RetryableError as `applyMissing` does
 */
export async function applyNew(
  context: MirrorContext,
  missing: readonly ListedTransaction[],
  { alsoApply, commitment = 'confirmed' }: Applying = {},
): Promise<void> {
  const { database, source, addresses, onFolded, signal } = context;
  const notify = notifierOf(context);

  async function store(batch: readonly PreparedTransaction[]): Promise<void> {
    if (signal.aborted) throw new RetryableError('Stopped before everything was applied');
    const last = batch.at(-1);
    try {
      const folded = await atomically(database, async () => {
        if (last) await alsoApply?.(last);
        return applyTransactions(database, batch, addresses, { notify, commitment });
      });
      onFolded(folded);
    } catch (error) {
      if (batch.length === 1 || classify(error) instanceof RetryableError) throw error;
      for (const transaction of batch) await store([transaction]);
    }
  }

  const prepared = readAhead(source, missing, (transaction) => prepare(transaction, addresses));
  for await (const batch of prepared) await store(batch);
}

/**
 * Looks for what held events wait for in the history of the account that lacks a change. A sweep
 * that got an incomplete list may have passed it long ago.
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

/**
 * Applies everything that the ledger has and the mirror lacks, oldest first. The cursor moves in
 * the database transaction of what it passes. So a process that dies leaves nothing out.
 *
 * @returns how many transactions were applied
 */
export async function sweep(context: MirrorContext): Promise<number> {
  const { database, source, commitment } = context;
  const cursor = await selectCursor(database, 'confirmed');
  const pages = listPages(source, {
    commitment,
    slot: cursor - OVERLAP_SLOTS,
    isKnown: (before) => isKnown(context, before),
  });
  let applied = 0;
  for await (const page of pages) {
    applied += await applyMissing(context, page, {
      alsoApply: ({ slot }) => moveCursors(database, ['confirmed'], slot),
    });
    // Failed transactions have nothing to store, but they need not be listed again either.
    const newest = page.at(-1);
    if (newest && newest.slot > cursor) await moveCursors(database, ['confirmed'], newest.slot);
  }
  return applied;
}

const INTERVAL_MS = 1_000;

/**
 * Reads the ledger's newest slot once a second until `signal` aborts, beside the sweeps. A sweep
 * that takes long has to show as lag.
 */
export async function followHead(options: {
  source: LedgerSource;
  commitment: Commitment;
  progress: Progress;
  signal: AbortSignal;
}): Promise<void> {
  const { source, commitment, progress, signal } = options;
  while (!signal.aborted) {
    progress.sawHead(await source.slot(commitment));
    await delay(INTERVAL_MS, signal);
  }
}
