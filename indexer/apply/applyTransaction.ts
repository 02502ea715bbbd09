import type { Database } from '../../common/postgres.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import type { LedgerEvent, LedgerTransaction } from '../decode.ts';
import { insertTransactions } from '../statements/insertTransactions.ts';
import { notifyJobs } from '../statements/notifyJobs.ts';
import { foldNewEvents } from './foldEvents.ts';

/** Tells others of events that were folded, in the same database transaction. */
export type Tell = (database: Database, events: readonly LedgerEvent[]) => Promise<void>;

/** Tells those who wait for a job. */
export const tellReaders: Tell = (database, events) => notifyJobs(database, jobsOf(events));

/**
 * Applies one transaction of the ledger. The caller's database transaction holds everything: rows,
 * journal, announcements and, where it moves, the cursor.
 *
 * @returns the events that were folded now; none when the transaction was applied before
 */
export async function applyTransaction(
  database: Database,
  transaction: LedgerTransaction,
  addresses: Addresses,
  tell: Tell = tellReaders,
): Promise<LedgerEvent[]> {
  if ((await insertTransactions(database, [transaction])) === 0) return [];
  const folded = await foldNewEvents(database, transaction.events, addresses);
  await tell(database, folded);
  return folded;
}

/** The addresses of the jobs that events are about, each once. */
export function jobsOf(events: readonly LedgerEvent[]): string[] {
  return [...new Set(events.flatMap(({ data }) => ('job' in data ? data.job : [])))];
}
