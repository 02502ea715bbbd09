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
  /** Null when tokens never rested while the accounts were read, so that nothing can be told. */
  readonly conservation: readonly Conservation[] | null;
}

/**
 * Compares what is told in four places: the journal's events, the tables, the program's accounts,
 * and the vaults that must hold what the accounts promise.
 *
 * @throws RetryableError when the ledger does not answer, or the signal aborts
 */
export async function reconcile(options: {
  database: pg.Pool;
  connection: Connection;
  addresses: Addresses;
  signal?: AbortSignal;
}): Promise<Reconciliation> {
  const { database, connection, addresses, signal = new AbortController().signal } = options;
  const state = await readLedger(connection, addresses, signal);
  const { accounts } = state;
  return {
    slot: state.slot,
    accounts: accounts.size,
    blankAccounts: state.blankAccounts,
    differences: [
      ...(await compareLedger(database, connection, accounts)),
      ...(await compareJournal(database, addresses, signal)),
    ],
    conservation: state.vaults && computeConservation({ ...state.vaults, accounts }),
  };
}

/**
 * Whether nothing differs, and every vault that was compared holds what it owes.
 */
export function isClean({ differences, conservation }: Reconciliation): boolean {
  return differences.length === 0 && !conservation?.some(holdsTooLittle);
}

/** Of one vault. More than it owes was sent unasked. */
export function holdsTooLittle({ heldBaseUnits, dueBaseUnits }: Conservation): boolean {
  return heldBaseUnits < dueBaseUnits;
}
