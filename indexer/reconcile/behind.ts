import type pg from 'pg';
import type { Database } from '../../common/postgres.ts';
import type { LedgerConnection } from '../../programs/client/ledgerConnection.ts';
import type { ListedTransaction } from '../source/source.ts';
import { selectCursor, selectStored } from '../sql/progress.ts';
import { type ComparedRow, compareRows, type Difference, inSnapshot } from './difference.ts';
import { readRows } from './journal.ts';
import { readNewest } from './readLedger.ts';

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
export async function separateBehind(options: {
  pool: pg.Pool;
  connection: LedgerConnection;
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
