import { type JobNotice, writeNotices } from '../../common/database/mirrorNotices.ts';
import type { Commitment } from '../../common/net/commitment.ts';
import type { Database } from '../../common/postgres.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import { type Change, mergeChanges } from '../fold/change.ts';
import type { LedgerEvent, LedgerTransaction } from '../fold/event.ts';
import { changesOf } from '../fold/folds.ts';
import {
  copiedChanges,
  copiedEvent,
  copyEvents,
  hasHeldEvents,
  insertEvents,
  insertTransactions,
  markFolded,
  selectHeldEvents,
} from '../sql/journal.ts';
import { selectSequences } from '../sql/progress.ts';
import { allOf, copyChanges, writeChanges } from '../sql/writeChanges.ts';

/** How transactions are applied. */
interface Applying {
  readonly notify?: NotifyReaders;
  /** How sure the ledger is of them by now. */
  readonly commitment?: Commitment;
}

/** For fewer transactions, statements that go out together are quicker than `COPY` in turn. */
const COPIED_MIN = 32;

/** Transactions have to be applied one by one, since one of them is not the next. */
class OutOfOrderError extends Error {
  override name = 'OutOfOrderError';
}

/**
 * Applies transactions of the ledger in their order. The caller's database transaction holds
 * everything: rows, journal, announcements and, where it moves, the cursor.
 *
 * Several need hardly more statements than one: of each column only the last value is written. So
 * each of their events has to fold at once, or the events would be announced in another order.
 *
 * @returns the events that were folded now; none when a single transaction was applied before
 * @throws OutOfOrderError where one of several was applied before, or has an event that must wait
 */
export async function applyTransactions(
  database: Database,
  transactions: readonly (LedgerTransaction & Partial<PreparedTransaction>)[],
  addresses: Addresses,
  { notify = notifyReaders, commitment = 'confirmed' }: Applying = {},
): Promise<LedgerEvent[]> {
  const areSeveral = transactions.length > 1;
  const isCopied = transactions.length >= COPIED_MIN && transactions.every(isPrepared);
  const entries = transactions.flatMap(
    (one) =>
      one.entries ?? one.events.map((event) => ({ event, changes: changesOf(event, addresses) })),
  );
  // Sent together: the server runs them in this order.
  const [isAnyHeld, stored, sequences] = await Promise.all([
    areSeveral && hasHeldEvents(database),
    insertTransactions(database, transactions, commitment),
    isCopied ? new Map<string, bigint>() : selectSequences(database, addressesOf(entries)),
  ]);
  if (isAnyHeld) throw new OutOfOrderError('An event waits for another one');
  if (stored < transactions.length) {
    if (areSeveral) throw new OutOfOrderError('A transaction was applied before');
    return [];
  }
  if (isCopied) {
    const folded = await copyFolded(database, transactions);
    await notify(database, folded);
    return folded;
  }
  const journal = foldInOrder(entries, sequences);
  if (areSeveral && journal.some(({ folded }) => !folded)) {
    throw new OutOfOrderError('An event has to wait for another one');
  }
  const folded = await writeFolded(database, { journal, sequences, notify });
  const released = await foldReleased(database, folded.held, addresses);
  if (released.length > 0) await notify(database, released);
  return [...folded.events, ...released];
}

const addressesOf = (entries: readonly Entry[]): string[] =>
  entries.flatMap(({ changes }) => changes.map(({ address }) => address));

/** Which events are next, in the order of their emission. The others wait for what is missing. */
function foldInOrder(entries: readonly Entry[], sequences: Map<string, bigint>): JournalEntry[] {
  return entries.map((entry) => {
    const folded = isNext(entry.changes, sequences);
    if (folded) for (const { address, sequence } of entry.changes) sequences.set(address, sequence);
    return { ...entry, folded };
  });
}

/**
 * Journals new events, folds and announces those that are next, all in one round trip.
 *
 * @returns the events folded, and those held that they may release
 */
async function writeFolded(
  database: Database,
  given: {
    journal: readonly JournalEntry[];
    sequences: ReadonlyMap<string, bigint>;
    notify: NotifyReaders;
  },
): Promise<{ events: LedgerEvent[]; held: LedgerEvent[] }> {
  const { journal, sequences, notify } = given;
  if (journal.length === 0) return { events: [], held: [] };
  const foldable = journal.filter(({ folded }) => folded);
  const events = foldable.map(({ event }) => event);
  const changes = foldable.flatMap((entry) => entry.changes);
  const [, , held] = await allOf([
    insertEvents(database, journal),
    writeChanges(database, changes),
    selectHeldEvents(database, sequences),
    notify(database, events),
  ]);
  return { events, held };
}

/** An event is folded when each account it changes has had exactly the changes before it. */
function isNext(changes: readonly Change[], sequences: ReadonlyMap<string, bigint>): boolean {
  return changes.every(({ address, sequence }) => sequence === (sequences.get(address) ?? 0n) + 1n);
}

async function foldReleased(
  database: Database,
  held: readonly LedgerEvent[],
  addresses: Addresses,
): Promise<LedgerEvent[]> {
  const folded: LedgerEvent[] = [];
  let waiting = held;
  while (waiting.length > 0) {
    const next = new Map<string, bigint>();
    for (const event of waiting) {
      const changes = changesOf(event, addresses);
      const sequences = await selectSequences(
        database,
        changes.map(({ address }) => address),
      );
      if (!isNext(changes, sequences)) continue;
      await writeChanges(database, changes);
      await markFolded(database, event);
      for (const { address, sequence } of changes) next.set(address, sequence);
      folded.push(event);
    }
    waiting = next.size > 0 ? await selectHeldEvents(database, next) : [];
  }
  return folded;
}

/**
 * Folds the events that waited for the given accounts to reach their sequences, and those that
 * waited for these.
 *
 * @returns the events folded
 */
export async function foldHeldEvents(
  database: Database,
  reached: ReadonlyMap<string, bigint>,
  addresses: Addresses,
): Promise<LedgerEvent[]> {
  if (reached.size === 0) return [];
  return foldReleased(database, await selectHeldEvents(database, reached), addresses);
}

/**
 * Writes journal, changes and new jobs by `COPY`.
 *
 * @throws Error where an event is not the next of its account
 */
async function copyFolded(
  database: Database,
  transactions: readonly PreparedTransaction[],
): Promise<LedgerEvent[]> {
  // First, so that no statement is in flight when a gap is found: it would come after the rollback.
  const merged = mergeChanges(
    transactions.flatMap(({ entries }) => entries.flatMap(({ changes }) => changes)),
  );
  await copyEvents(database, {
    events: transactions.map(({ eventRows }) => eventRows).join(''),
    changes: transactions.map(({ changeRows }) => changeRows).join(''),
  });
  await copyChanges(database, merged);
  return transactions.flatMap(({ events }) => events);
}

/** An event with the changes that it stands for. */
interface Entry {
  readonly event: LedgerEvent;
  readonly changes: readonly Change[];
}

interface JournalEntry extends Entry {
  readonly folded: boolean;
}

/** A transaction and all of its work that needs no database. */
export interface PreparedTransaction extends LedgerTransaction {
  readonly entries: readonly Entry[];
  /** The journal's rows, as `COPY` reads them. */
  readonly eventRows: string;
  readonly changeRows: string;
}

function isPrepared(
  transaction: LedgerTransaction & Partial<PreparedTransaction>,
): transaction is PreparedTransaction {
  return transaction.entries !== undefined;
}

/** @throws Error for an event that this release cannot fold */
export function prepare(transaction: LedgerTransaction, addresses: Addresses): PreparedTransaction {
  const entries = transaction.events.map((event) => ({
    event,
    changes: changesOf(event, addresses),
  }));
  return {
    ...transaction,
    entries,
    eventRows: entries.map(({ event }) => copiedEvent(event)).join(''),
    changeRows: entries.map(copiedChanges).join(''),
  };
}

/** Notifies others of folded events, in the same database transaction. */
export type NotifyReaders = (database: Database, events: readonly LedgerEvent[]) => Promise<void>;

/** Notifies listeners on `mirror_jobs` of the jobs that events are about, once it commits. */
export const notifyReaders: NotifyReaders = (database, events) =>
  notify(database, events.flatMap(noticeOf));

/** The same where tables have lost events: what those say holds no more. */
export const notifyOfLost: NotifyReaders = (database, events) =>
  notify(
    database,
    events.flatMap(noticeOf).map(({ address }) => ({ address })),
  );

/** Of several notices of a job, the last one counts. */
async function notify(database: Database, notices: readonly JobNotice[]): Promise<void> {
  const last = new Map(notices.map((notice) => [notice.address, notice]));
  const notifying = writeNotices([...last.values()]).map((payload) =>
    database.query({
      name: 'notify_jobs',
      text: `select pg_notify('mirror_jobs', $1)`,
      values: [payload],
    }),
  );
  await Promise.all(notifying);
}

function noticeOf({ name, data, signature }: LedgerEvent): JobNotice[] {
  if (!('job' in data)) return [];
  if (name !== 'JobSettled' && name !== 'JobCompleted') return [{ address: data.job }];
  const availableCredits = BigInt(data.availableCredits);
  return [{ address: data.job, settled: { settlementTx: signature, availableCredits } }];
}
