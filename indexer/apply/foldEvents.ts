import type { Database } from '../../common/postgres.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import type { LedgerEvent } from '../decode.ts';
import { insertEvents } from '../statements/insertEvents.ts';
import { markFolded } from '../statements/markFolded.ts';
import { selectHeldEvents } from '../statements/selectHeldEvents.ts';
import { selectSequences } from '../statements/selectSequences.ts';
import type { Change } from './change.ts';
import { changesOf } from './folds/index.ts';
import { writeChanges } from './writeChanges.ts';

/** An event is folded when each account it changes has had exactly the changes before it. */
function isNext(changes: readonly Change[], sequences: ReadonlyMap<string, bigint>): boolean {
  return changes.every(({ address, sequence }) => sequence === (sequences.get(address) ?? 0n) + 1n);
}

/**
 * Journals new events, in the order of their emission, and folds those that are next. The others
 * stay in the journal until what is missing before them arrives.
 *
 * @returns the events folded, with those that were released by them
 */
export async function foldNewEvents(
  database: Database,
  events: readonly LedgerEvent[],
  addresses: Addresses,
): Promise<LedgerEvent[]> {
  if (events.length === 0) return [];
  const entries = events.map((event) => ({ event, changes: changesOf(event, addresses) }));
  const touched = entries.flatMap(({ changes }) => changes.map(({ address }) => address));
  const sequences = await selectSequences(database, touched);
  const journal = entries.map((entry) => {
    const folded = isNext(entry.changes, sequences);
    if (folded) for (const { address, sequence } of entry.changes) sequences.set(address, sequence);
    return { ...entry, folded };
  });
  const foldable = journal.filter(({ folded }) => folded);
  // Each needs the ones before it to be done, not to be answered.
  const [, , held] = await Promise.all([
    insertEvents(database, journal),
    writeChanges(
      database,
      foldable.flatMap(({ changes }) => changes),
    ),
    selectHeldEvents(database, sequences),
  ]);
  const folded = foldable.map(({ event }) => event);
  return [...folded, ...(await foldReleased(database, held, addresses))];
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
