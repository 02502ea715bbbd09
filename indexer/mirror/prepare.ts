import type { Addresses } from '../../programs/client/addresses.ts';
import type { Change } from '../fold/change.ts';
import type { LedgerEvent, LedgerTransaction } from '../fold/event.ts';
import { changesOf } from '../fold/folds.ts';
import { copiedChanges, copiedEvent } from '../sql/journal.ts';

/** An event with the changes that it stands for. */
export interface Entry {
  readonly event: LedgerEvent;
  readonly changes: readonly Change[];
}

/** A transaction and all of its work that needs no database. */
export interface PreparedTransaction extends LedgerTransaction {
  readonly entries: readonly Entry[];
  /** The journal's rows, as `COPY` reads them. */
  readonly eventRows: string;
  readonly changeRows: string;
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
