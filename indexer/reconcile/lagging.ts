import type pg from 'pg';
import type { Database } from '../../common/postgres.ts';
import type { LedgerConnection } from '../../programs/client/ledgerConnection.ts';
import type { ListedTransaction } from '../source/source.ts';
import { selectCursor, selectStored } from '../sql/progress.ts';
import { type ComparedRow, compareRows, type Difference, inSnapshot } from './difference.ts';
import { readRows } from './journal.ts';
import { readNewest } from './readLedger.ts';

/** Accounts of a mirror that is behind the ledger. */
export interface LaggingAccounts {
  /** From the mirror's cursor to the program's newest transaction. */
  readonly slots: number;
  /** How many accounts differ, and can be compared only when the mirror has come further. */
  readonly accounts: number;
}

/** Each costs a request to the node. The others are compared when the mirror has come further. */
const ACCOUNTS_READ_MAX = 200;

/**
 * Splits accounts of which the mirror lacks a change. Where the mirror has passed the account's
 * newest transaction, the change is missing for good: a difference. The others are lagging.
 *
 * Any transaction can mention an account that it does not change, and so hide a difference, but only
 * until the mirror has come to `newest`.
 *
 * @param options.lacking accounts, as they are on the ledger, of which the mirror lacks a change
 * @param options.newest the program's newest transaction when the ledger was read
 * @throws RetryableError when the ledger does not answer
 */
export async function splitLagging(options: {
  pool: pg.Pool;
  connection: LedgerConnection;
  lacking: ReadonlyMap<string, ComparedRow | undefined>;
  newest: ListedTransaction;
}): Promise<{ differences: Difference[]; behind: LaggingAccounts | null }> {
  const { pool, connection, lacking, newest } = options;
  const changes = new Map<string, ListedTransaction>();
  const read = [...lacking.keys()].slice(0, ACCOUNTS_READ_MAX);
  for (const address of read) {
    const change = await readNewest(connection, address);
    if (change) changes.set(address, change);
  }
  // Only now: the mirror may have come further, and is judged by what it held at one moment.
  return inSnapshot(pool, async (database) => {
    const rows = await readRows(database, read);
    const swept = await selectSwept(database, [...changes.values()]);
    const differences: Difference[] = [];
    let waiting = lacking.size - read.length;
    for (const address of read) {
      const found = rows.get(address);
      const expected = lacking.get(address);
      if (!isMissing(found, expected)) continue;
      const change = changes.get(address);
      if (change && !swept.holds(change)) waiting += 1;
      else differences.push(...compareRows({ against: 'ledger', address }, found, expected));
    }
    const slots = Math.max(0, Number(newest.slot - swept.cursorSlot));
    return { differences, behind: waiting > 0 ? { slots, accounts: waiting } : null };
  });
}

/** Whether the row lacks a change of the account, its making or its end. */
export function isMissing(
  found: ComparedRow | undefined,
  expected: ComparedRow | undefined,
): boolean {
  if (!found) return expected !== undefined;
  return expected ? found.sequence < expected.sequence : found.values.closed !== true;
}

/**
 * How far the mirror had come at one moment.
 *
 * @param listed the transactions for which `holds` will be called
 */
export async function selectSwept(database: Database, listed: readonly ListedTransaction[]) {
  const cursorSlot = await selectCursor(database, 'confirmed');
  // A sweep that ended within a slot has stored a part of it.
  const within = listed.filter(({ slot }) => slot === cursorSlot);
  const signatures = within.map(({ signature }) => signature);
  const stored = await selectStored(database, signatures);
  return {
    cursorSlot,
    /** Whether everything up to the transaction had been stored, or passed over. */
    holds: ({ signature, slot, failed }: ListedTransaction) =>
      slot < cursorSlot || (slot === cursorSlot && (failed || stored.has(signature))),
  };
}
