import type { Database } from '../../common/postgres.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import type { LedgerEvent } from '../fold/event.ts';
import { changesOf } from '../fold/folds.ts';
import { eventOf, type JournalRow, journalColumns } from './journal.ts';

/** An account's changes after one sequence, and before another one; null: to the last. */
interface LostChanges {
  readonly address: string;
  readonly after: bigint;
  readonly before: bigint | null;
}

/**
 * Marks a transaction's events as not folded, and with them every event that was folded on top of
 * them, through all accounts that they share. Each account's changes are read once: thousands of
 * events may share a worker or a wallet by then.
 *
 * @returns the events whose changes the tables must lose
 */
export async function undoEvents(
  database: Database,
  signature: string,
  addresses: Addresses,
): Promise<LedgerEvent[]> {
  /** By account, the first change that is lost. */
  const lowest = new Map<string, bigint>();
  let undone: LedgerEvent[] = [];
  let found = await undoTransaction(database, signature);
  while (found.length > 0) {
    undone = undone.concat(found);
    found = await undoChanges(database, lowerAll(lowest, found, addresses));
  }
  return undone;
}

/** @returns what else is lost, where events are */
function lowerAll(
  lowest: Map<string, bigint>,
  events: readonly LedgerEvent[],
  addresses: Addresses,
): LostChanges[] {
  const before = new Map(lowest);
  const lowered = new Set<string>();
  for (const { address, sequence } of events.flatMap((event) => changesOf(event, addresses))) {
    const known = lowest.get(address);
    if (known !== undefined && known <= sequence) continue;
    lowest.set(address, sequence);
    lowered.add(address);
  }
  return [...lowered].map((address) => ({
    address,
    after: lowest.get(address) as bigint,
    before: before.get(address) ?? null,
  }));
}

async function undoTransaction(database: Database, signature: string): Promise<LedgerEvent[]> {
  const { rows } = await database.query<JournalRow>(
    `update journal set folded = false where signature = $1 and folded returning ${journalColumns}`,
    [signature],
  );
  return rows.map(eventOf);
}

async function undoChanges(
  database: Database,
  lost: readonly LostChanges[],
): Promise<LedgerEvent[]> {
  const { rows } = await database.query<JournalRow>(
    `
      update journal set folded = false
      where folded and (signature, instruction_index, inner_index) in (
        select change.signature, change.instruction_index, change.inner_index
        from unnest($1::text[], $2::numeric[], $3::numeric[]) as lost (address, after, before)
        join account_changes change
          on change.address = lost.address and change.sequence > lost.after
          and change.sequence < coalesce(lost.before, 'infinity')
      )
      returning ${journalColumns}`,
    [
      lost.map(({ address }) => address),
      lost.map(({ after }) => after),
      lost.map(({ before }) => before),
    ],
  );
  return rows.map(eventOf);
}

/** Forgets a transaction and its events. */
export async function deleteTransaction(database: Database, signature: string): Promise<void> {
  await database.query('delete from transactions where signature = $1', [signature]);
}
