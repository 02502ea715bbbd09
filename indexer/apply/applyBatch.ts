import type { Database } from '../../common/postgres.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import type { LedgerEvent, LedgerTransaction } from '../decode.ts';
import { hasHeldEvents } from '../statements/hasHeldEvents.ts';
import { insertTransactions } from '../statements/insertTransactions.ts';
import type { Tell } from './applyTransaction.ts';
import { foldNewEvents } from './foldEvents.ts';

/** Transactions have to be applied one by one, since one of them is not what comes next. */
export class OutOfOrderError extends Error {
  override name = 'OutOfOrderError';
}

/**
 * Applies transactions that follow each other, with hardly more statements than for one. What comes
 * of it is what comes of applying one after the other: each event folds at once, none waits, none is
 * released, and so the last value of each column counts and the order of the events is theirs.
 *
 * @returns their events, which are folded all
 * @throws OutOfOrderError where that is not so; the caller's database transaction must be rolled back
 */
export async function applyBatch(
  database: Database,
  transactions: readonly LedgerTransaction[],
  addresses: Addresses,
  tell: Tell,
): Promise<LedgerEvent[]> {
  if (await hasHeldEvents(database)) throw new OutOfOrderError('An event waits for another one');
  if ((await insertTransactions(database, transactions)) < transactions.length) {
    throw new OutOfOrderError('A transaction was applied before');
  }
  const events = transactions.flatMap((transaction) => transaction.events);
  const folded = await foldNewEvents(database, events, addresses);
  if (events.some((event, position) => event !== folded[position])) {
    throw new OutOfOrderError('An event has to wait for another one');
  }
  await tell(database, folded);
  return folded;
}
