import type { Connection } from '@solana/web3.js';
import type pg from 'pg';
import type { Addresses } from '../../programs/client/addresses.ts';
import {
  type Conservation,
  computeConservation,
} from '../../programs/client/verify/conservation.ts';
import { compareJournal } from './compareJournal.ts';
import { compareLedger } from './compareLedger.ts';
import type { Difference } from './difference.ts';
import { readLedger } from './readLedger.ts';

export interface Reconciliation {
  /** Of the accounts and vaults that were read. */
  readonly slot: number;
  readonly accounts: number;
  /** Accounts of zeros that strangers made in the program's name; they mean nothing. */
  readonly blankAccounts: number;
  readonly differences: readonly Difference[];
  readonly conservation: readonly Conservation[];
}

/**
 * Compares what is told in four places: the journal's events, the tables, the program's accounts,
 * and the vaults that must hold what the accounts promise.
 *
 * @throws RetryableError when the ledger does not answer or never rests, or the signal aborts
 */
export async function reconcile(options: {
  database: pg.Pool;
  connection: Connection;
  addresses: Addresses;
  signal?: AbortSignal;
}): Promise<Reconciliation> {
  const { database, connection, addresses, signal = new AbortController().signal } = options;
  const state = await readLedger(connection, addresses);
  return {
    slot: state.slot,
    accounts: state.accounts.size,
    blankAccounts: state.blankAccounts,
    differences: [
      ...(await compareLedger(database, connection, state.accounts)),
      ...(await compareJournal(database, addresses, signal)),
    ],
    conservation: computeConservation(state),
  };
}

/** Whether nothing differs, and every vault holds what it owes. More was sent unasked. */
export function isClean({ differences, conservation }: Reconciliation): boolean {
  return (
    differences.length === 0 &&
    conservation.every(({ heldBaseUnits, dueBaseUnits }) => heldBaseUnits >= dueBaseUnits)
  );
}
