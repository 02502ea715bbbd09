import type { Connection } from '@solana/web3.js';
import type pg from 'pg';
import type { DecodedAccount } from '../../programs/client/accounts.ts';
import { workerModels } from '../../programs/client/views.ts';
import { delay } from '../../runtime/wait.ts';
import { type ComparedRow, compareRows, type Difference } from './difference.ts';
import { expectedRow } from './expectedRows.ts';
import { readAccounts } from './readLedger.ts';
import { readLiveRows, readRows } from './readRows.ts';
import { inSnapshot } from './snapshot.ts';

const ROUNDS_MAX = 5;
const ROUND_INTERVAL_MS = 500;

type Accounts = ReadonlyMap<string, DecodedAccount>;

/**
 * Compares the tables with the program's accounts. A live mirror is a moment behind, and accounts
 * move while they are read: those at different ages are read again, for two seconds in all. A busy
 * account may never be caught at rest; but a mirror that by then has not reached even what the
 * account was at first stands still, and that is a difference.
 *
 * @param accounts every account of the program, as of one slot
 */
export async function compareLedger(
  pool: pg.Pool,
  connection: Connection,
  accounts: Accounts,
): Promise<Difference[]> {
  const differences: Difference[] = [];
  let rows = await inSnapshot(pool, readLiveRows);
  let read = accounts;
  let left = [...new Set([...accounts.keys(), ...rows.keys()])];
  for (let round = 1; ; round += 1) {
    const unequal: string[] = [];
    for (const address of left) {
      const found = rows.get(address);
      const expected = rowOf(read.get(address));
      if (!expected && found?.values.closed === true) continue;
      const isStill = round === ROUNDS_MAX && !isMoving(accounts.get(address), found, expected);
      if (isStill || found?.sequence === expected?.sequence) {
        differences.push(...compareRows({ against: 'ledger', address }, found, expected));
      } else {
        unequal.push(address);
      }
    }
    if (unequal.length === 0 || round === ROUNDS_MAX) return differences;
    await delay(ROUND_INTERVAL_MS);
    read = await readAccounts(connection, unequal);
    rows = await inSnapshot(pool, (database) => readRows(database, unequal));
    left = unequal;
  }
}

/** Whether both have gone on since the account was first read. */
function isMoving(
  first: DecodedAccount | undefined,
  found: ComparedRow | undefined,
  expected: ComparedRow | undefined,
): boolean {
  if (!first || !found || !expected) return false;
  const since = BigInt(first.data.sequence);
  return found.sequence >= since && expected.sequence > since;
}

function rowOf(account: DecodedAccount | undefined): ComparedRow | undefined {
  if (account?.name !== 'Worker') return account && expectedRow(account);
  const { sequence, values } = expectedRow(account);
  const models = workerModels(account.data).map(String).sort();
  return { sequence, values: { ...values, models } };
}
