import type { Connection } from '@solana/web3.js';
import type pg from 'pg';
import type { Database } from '../../common/postgres.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import {
  type Conservation,
  computeConservation,
} from '../../programs/client/verify/ledgerState.ts';
import { assertSameLedger } from '../mirror/bindLedger.ts';
import type { ListedTransaction } from '../source/source.ts';
import { selectCursor, selectLedger, selectStored } from '../sql/progress.ts';
import { type ComparedRow, compareRows, type Difference, inSnapshot } from './difference.ts';
import { compareJournal, readRows } from './journal.ts';
import { compareLedger, readGenesisHash, readLedger, readNewest } from './ledger.ts';

/** How far the mirror had come at one moment. */
interface Swept {
  readonly cursorSlot: bigint;
  /** Whether everything up to the transaction had been stored, or passed over. */
  holds(listed: ListedTransaction): boolean;
}

/** @param listed those that will be asked about */
export async function selectSwept(
  database: Database,
  listed: readonly ListedTransaction[],
): Promise<Swept> {
  const cursorSlot = await selectCursor(database, 'confirmed');
  // A sweep that ended within a slot has stored a part of it.
  const within = listed.filter(({ slot }) => slot === cursorSlot);
  const signatures = within.map(({ signature }) => signature);
  const stored = await selectStored(database, signatures);
  return {
    cursorSlot,
    holds: ({ signature, slot, failed }) =>
      slot < cursorSlot || (slot === cursorSlot && (failed || stored.has(signature))),
  };
}

/** A mirror that has not come as far as the ledger was when it was read. */
export interface Behind {
  /** From the mirror's cursor to the program's newest transaction. */
  readonly slots: number;
  /** How many accounts differ and cannot be compared before the mirror has come further. */
  readonly accounts: number;
}

/** Each costs a question to the node. The others are compared when the mirror has come further. */
const ACCOUNTS_ASKED_MAX = 200;

/**
 * Whether a mirror that is behind the ledger also lacks what it should know: what an account was
 * changed by last tells. Where the mirror has come past that, it lacks the change for good. Anybody
 * can mention an account in a later transaction, and so have it pass for one that changed; only
 * until the mirror has come to `newest`.
 *
 * @param options.lacking accounts, as they are on the ledger, of which the mirror lacks a change
 * @param options.newest the program's newest transaction when the ledger was read
 * @throws RetryableError when the ledger does not answer
 */
export async function tellBehind(options: {
  pool: pg.Pool;
  connection: Connection;
  lacking: ReadonlyMap<string, ComparedRow | undefined>;
  newest: ListedTransaction;
}): Promise<{ differences: Difference[]; behind: Behind | null }> {
  const { pool, connection, lacking, newest } = options;
  const changes = new Map<string, ListedTransaction>();
  const asked = [...lacking.keys()].slice(0, ACCOUNTS_ASKED_MAX);
  for (const address of asked) {
    const change = await readNewest(connection, address);
    if (change) changes.set(address, change);
  }
  // Only now: the mirror may have come further, and is judged by what it held at one moment.
  return inSnapshot(pool, async (database) => {
    const rows = await readRows(database, asked);
    const swept = await selectSwept(database, [...changes.values()]);
    const differences: Difference[] = [];
    let waiting = lacking.size - asked.length;
    for (const address of asked) {
      const found = rows.get(address);
      const expected = lacking.get(address);
      if (!lacks(found, expected)) continue;
      const change = changes.get(address);
      if (change && !swept.holds(change)) waiting += 1;
      else differences.push(...compareRows({ against: 'ledger', address }, found, expected));
    }
    const slots = Math.max(0, Number(newest.slot - swept.cursorSlot));
    return { differences, behind: waiting > 0 ? { slots, accounts: waiting } : null };
  });
}

/** Whether the row lacks what became of the account: a change, its making or its end. */
export function lacks(found: ComparedRow | undefined, expected: ComparedRow | undefined): boolean {
  if (!found) return expected !== undefined;
  return expected ? found.sequence < expected.sequence : found.values.closed !== true;
}

/**
 * Refuses to compare a mirror with another ledger, or another program, than its own: everything
 * would differ, and nothing would be wrong. A mirror that no indexer has kept yet is nobody's.
 *
 * @throws FatalError naming both
 * @throws RetryableError when the ledger does not answer
 */
export async function checkLedger(options: {
  database: pg.Pool;
  connection: Connection;
  addresses: Addresses;
}): Promise<void> {
  const { database, connection, addresses } = options;
  const bound = await inSnapshot(database, selectLedger);
  if (!bound) return;
  const genesisHash = await readGenesisHash(connection);
  assertSameLedger(bound, { genesisHash, programId: addresses.programId.toBase58() });
}

export interface Reconciliation {
  /** Of the accounts and vaults that were read. */
  readonly slot: number;
  readonly accounts: number;
  /** Accounts of zeros that strangers made in the program's name; they mean nothing. */
  readonly blankAccounts: number;
  readonly differences: readonly Difference[];
  /** Null when the mirror was far enough to compare every account. */
  readonly behind: Behind | null;
  /** Null when tokens never rested while the accounts were read, so that nothing can be told. */
  readonly conservation: readonly Conservation[] | null;
}

/**
 * Compares what is told in four places: the journal's events, the tables, the program's accounts,
 * and the vaults that must hold what the accounts promise.
 *
 * @param options.patienceMs how long a mirror is waited for that is behind the ledger; default 0
 * @throws RetryableError when the ledger does not answer, or the signal aborts
 */
export async function reconcile(options: {
  database: pg.Pool;
  connection: Connection;
  addresses: Addresses;
  patienceMs?: number;
  signal?: AbortSignal;
}): Promise<Reconciliation> {
  const { database: pool, connection, addresses, patienceMs = 0 } = options;
  const { signal = new AbortController().signal } = options;
  const state = await readLedger(connection, addresses, signal);
  const { accounts } = state;
  const newest = await readNewest(connection, addresses.programId.toBase58());
  const onLedger = { connection, accounts, newest };
  const { differences, behind } = await compareLedger({ pool, ...onLedger, patienceMs, signal });
  return {
    slot: state.slot,
    accounts: accounts.size,
    blankAccounts: state.blankAccounts,
    differences: [...differences, ...(await compareJournal(pool, addresses, signal))],
    behind,
    conservation: state.vaults && computeConservation({ ...state.vaults, accounts }),
  };
}

/** Whether everything that was compared agrees, and all of it could be but what vaults hold. */
export function isClean(result: Reconciliation): boolean {
  return !isBreach(result) && result.behind === null;
}

/** Whether anything differs, or a vault that was compared holds less than it owes. */
export function isBreach({ differences, conservation }: Reconciliation): boolean {
  return differences.length > 0 || conservation?.some(holdsTooLittle) === true;
}

/** Of one vault. More than it owes was sent unasked. */
export function holdsTooLittle({ heldBaseUnits, dueBaseUnits }: Conservation): boolean {
  return heldBaseUnits < dueBaseUnits;
}
