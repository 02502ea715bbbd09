import type pg from 'pg';
import { accountRow } from '../../common/database/mirrorTables.ts';
import type { Database } from '../../common/postgres.ts';
import type { delay } from '../../common/wait.ts';
import { type DecodedAccount, workerModels } from '../../programs/client/accounts.ts';
import type { LedgerConnection } from '../../programs/client/ledgerConnection.ts';
import { RetryableError } from '../source/errors.ts';
import type { ListedTransaction } from '../source/source.ts';
import { type ComparedRow, compareRows, type Difference, inSnapshot } from './difference.ts';
import { readLiveRows, readRows } from './journal.ts';
import { isMissing, type LaggingAccounts, selectSwept, splitLagging } from './lagging.ts';
import { readAccounts } from './readLedger.ts';

const ROUNDS_MAX = 5;

const ROUND_INTERVAL_MS = 500;

export type Accounts = ReadonlyMap<string, DecodedAccount>;

type Rows = ReadonlyMap<string, ComparedRow>;

/**
 * Compares the tables with the program's accounts. A live mirror is a moment behind, and accounts
 * change while they are read. Rows and accounts of different sequences are read again, for two
 * seconds in all. A busy account may differ each time. It counts as a difference where the row is
 * older than the account was at first, although the mirror has come to `newest`. A mirror that has
 * not come so far is compared by its own cursor only.
 *
 * @param options.accounts every account of the program, as of one slot
 * @param options.newest the program's newest transaction when they had been read
 * @param options.patienceMs how long to wait for a mirror that has not come to `newest`
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
}): Promise<{ differences: Difference[]; behind: LaggingAccounts | null }> {
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
    if (round === 1) await awaitNewest(options);
    if (signal.aborted) throw new RetryableError('Stopped before everything was compared');
    read = await readAccounts(connection, left);
    mirror = await readMirror(pool, newest, (database) => readRows(database, left));
  }
  const lacking = new Map<string, ComparedRow | undefined>();
  for (const address of left) {
    const found = mirror.rows.get(address);
    const expected = rowOf(read.get(address));
    if (isMoving(accounts.get(address), found, expected)) continue;
    if (newest && !mirror.isReached && isMissing(found, expected)) lacking.set(address, expected);
    else differences.push(...compareRows({ against: 'ledger', address }, found, expected));
  }
  if (!newest || lacking.size === 0) return { differences, behind: null };
  const split = await splitLagging({ pool, connection, lacking, newest });
  return { differences: [...differences, ...split.differences], behind: split.behind };
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

async function awaitNewest(
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

/** Whether row and account have both changed since the account was first read, or ended. */
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
