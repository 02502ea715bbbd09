import type pg from 'pg';
import { accountRow } from '../../common/database/mirrorTables.ts';
import type { Database } from '../../common/postgres.ts';
import type { delay } from '../../common/wait.ts';
import { type DecodedAccount, workerModels } from '../../programs/client/accounts.ts';
import type { LedgerConnection } from '../../programs/client/ledgerConnection.ts';
import { RetryableError } from '../source/errors.ts';
import type { ListedTransaction } from '../source/source.ts';
import { type Behind, lacks, selectSwept, separateBehind } from './behind.ts';
import { type ComparedRow, compareRows, type Difference, inSnapshot } from './difference.ts';
import { readLiveRows, readRows } from './journal.ts';
import { readAccounts } from './readLedger.ts';

export const ROUNDS_MAX = 5;

export const ROUND_INTERVAL_MS = 500;

export type Accounts = ReadonlyMap<string, DecodedAccount>;

export type Rows = ReadonlyMap<string, ComparedRow>;

/**
 * Compares the tables with the program's accounts. A live mirror is a moment behind, and accounts
 * move while they are read: those at different ages are read again, for two seconds in all. A busy
 * account may never be caught at rest; but where a mirror that has come as far as the ledger was at
 * first lacks what the account was then, that is a difference. One that has not come so far may
 * still learn of it: then only what it should know by its own cursor is compared.
 *
 * @param options.accounts every account of the program, as of one slot
 * @param options.newest the program's newest transaction when they had been read
 * @param options.patienceMs how long a mirror that has not come to `newest` is waited for
 * @throws RetryableError when the ledger does not answer, or the signal aborts
 */
export async function compareLedger(options: {
  pool: pg.Pool;
  connection: LedgerConnection;
  accounts: Accounts;
  newest: ListedTransaction | undefined;
  patienceMs: number;
  signal: AbortSignal;
  wait: typeof delay;
}): Promise<{ differences: Difference[]; behind: Behind | null }> {
  const { pool, connection, accounts, newest, signal, wait } = options;
  const differences: Difference[] = [];
  let mirror = await readMirror(pool, newest, readLiveRows);
  let read = accounts;
  let left = [...new Set([...accounts.keys(), ...mirror.rows.keys()])];
  for (let round = 1; ; round += 1) {
    left = left.filter((address) => {
      const found = mirror.rows.get(address);
      const expected = rowOf(read.get(address));
      if (!expected && found?.values.closed === true) return false;
      if (found?.sequence !== expected?.sequence) return true;
      differences.push(...compareRows({ against: 'ledger', address }, found, expected));
      return false;
    });
    if (left.length === 0) return { differences, behind: null };
    if (round === ROUNDS_MAX) break;
    await wait(ROUND_INTERVAL_MS, signal);
    if (round === 1) await untilReached(options);
    if (signal.aborted) throw new RetryableError('Stopped before everything was compared');
    read = await readAccounts(connection, left);
    mirror = await readMirror(pool, newest, (database) => readRows(database, left));
  }
  const lacking = new Map<string, ComparedRow | undefined>();
  for (const address of left) {
    const found = mirror.rows.get(address);
    const expected = rowOf(read.get(address));
    if (isMoving(accounts.get(address), found, expected)) continue;
    if (newest && !mirror.isReached && lacks(found, expected)) lacking.set(address, expected);
    else differences.push(...compareRows({ against: 'ledger', address }, found, expected));
  }
  if (!newest || lacking.size === 0) return { differences, behind: null };
  const separated = await separateBehind({ pool, connection, lacking, newest });
  return { differences: [...differences, ...separated.differences], behind: separated.behind };
}

/** The rows, and whether the mirror had come to the transaction when it held them. */
function readMirror(
  pool: pg.Pool,
  newest: ListedTransaction | undefined,
  readThem: (database: Database) => Promise<Rows>,
): Promise<{ rows: Rows; isReached: boolean }> {
  return inSnapshot(pool, async (database) => ({
    rows: await readThem(database),
    isReached: !newest || (await selectSwept(database, [newest])).holds(newest),
  }));
}

async function untilReached(
  options: Pick<
    Parameters<typeof compareLedger>[0],
    'pool' | 'newest' | 'patienceMs' | 'signal' | 'wait'
  >,
): Promise<void> {
  const { pool, newest, patienceMs, signal, wait } = options;
  const deadlineMs = performance.now() + patienceMs;
  while (performance.now() < deadlineMs && !signal.aborted) {
    const { isReached } = await readMirror(pool, newest, async () => new Map());
    if (isReached) return;
    await wait(ROUND_INTERVAL_MS, signal);
  }
}

/** Whether both have gone on since the account was first read, and be it to its end. */
function isMoving(
  first: DecodedAccount | undefined,
  found: ComparedRow | undefined,
  expected: ComparedRow | undefined,
): boolean {
  if (!first || !found) return false;
  const since = BigInt(first.data.sequence);
  return found.sequence >= since && (!expected || expected.sequence > since);
}

/** The row that an account should have, as far as the account shows it. */
function rowOf(account: DecodedAccount | undefined): ComparedRow | undefined {
  if (!account) return undefined;
  const { name, data } = account;
  const models = name === 'Worker' && { models: workerModels(data).map(String).sort() };
  return { sequence: BigInt(data.sequence), values: { ...accountRow(name, data), ...models } };
}
