import type pg from 'pg';
import { TABLE_NAMES, type TableName } from '../../common/database/mirrorTables.ts';
import type { Database } from '../../common/postgres.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import { type Change, overwrite } from '../fold/change.ts';
import { changesOf } from '../fold/folds.ts';
import { RetryableError } from '../source/errors.ts';
import { type FoldedEvent, selectFoldedEvents, selectUnexplained } from '../sql/journal.ts';
import { type ComparedRow, compareRows, type Difference, inSnapshot } from './difference.ts';

type Row = { address: string; sequence: bigint } & Record<string, unknown>;

/** The rows of the given accounts, by address; of closed jobs, too. */
export function readRows(
  database: Database,
  addresses: readonly string[],
): Promise<Map<string, ComparedRow>> {
  return read(database, () => 'address = any($1)', [addresses]);
}

/** Every row whose account is still on the ledger, by address. */
export function readLiveRows(database: Database): Promise<Map<string, ComparedRow>> {
  return read(database, (table) => (table === 'jobs' ? 'not closed' : 'true'), []);
}

async function read(
  database: Database,
  conditionOf: (table: TableName) => string,
  parameters: unknown[],
): Promise<Map<string, ComparedRow>> {
  const rows = new Map<string, ComparedRow>();
  for (const table of TABLE_NAMES) {
    const found = await database.query<Row>(
      `select * ${table === 'workers' ? `, ${HOSTED} as models` : ''}
       from ${table} where ${conditionOf(table)}`,
      parameters,
    );
    for (const { address, sequence, ...values } of found.rows) {
      rows.set(address, { sequence, values });
    }
  }
  return rows;
}

const HOSTED = `array(
  select model from worker_models where worker = workers.address order by model collate "C")`;

const PAGE = 1_000;

/** What an account's row should be. */
interface FoldedAccount extends ComparedRow {
  readonly address: string;
}

/**
 * Folds the journal account by account, apart from the tables and in bounded memory. Where a change
 * is missing, the fold of that account ends, and its sequence shows it.
 */
async function* foldJournal(
  database: Database,
  addresses: Addresses,
): AsyncGenerator<FoldedAccount> {
  let account: FoldedAccount | undefined;
  for await (const { address, sequence, event } of walk(database)) {
    if (account && account.address !== address) yield account;
    if (account?.address !== address) account = { address, sequence: 0n, values: {} };
    const change = changesOf(event, addresses).find((other) => other.address === address);
    if (change && sequence === account.sequence + 1n) account = changed(account, change);
  }
  if (account) yield account;
}

async function* walk(database: Database): AsyncGenerator<FoldedEvent> {
  let after = { address: '', sequence: 0n };
  for (;;) {
    const page = await selectFoldedEvents(database, after, PAGE);
    yield* page;
    const last = page.at(-1);
    if (!last) return;
    after = last;
  }
}

function changed(account: FoldedAccount, change: Change): FoldedAccount {
  const { address } = account;
  const values = { ...account.values };
  overwrite(values, change);
  if (change.table === 'workers') values.models = hostedAfter(account, change);
  return { address, sequence: change.sequence, values };
}

/** Sorted, as the tables are read. */
function hostedAfter({ values }: FoldedAccount, { hosting }: Change): string[] {
  const models = new Set((values.models ?? []) as string[]);
  if (hosting?.hosts) models.add(hosting.model);
  else if (hosting) models.delete(hosting.model);
  return [...models].sort();
}

/** So many accounts' rows are read at once. */
const ACCOUNTS_AT_ONCE = 500;

/**
 * Compares the tables at one moment with a fold of the journal's events: also closed jobs, which the
 * ledger no longer shows.
 *
 * @throws RetryableError when the signal aborts
 */
export function compareJournal(
  pool: pg.Pool,
  addresses: Addresses,
  signal: AbortSignal,
): Promise<Difference[]> {
  return inSnapshot(pool, async (database) => {
    const differences: Difference[] = [];
    let batch: FoldedAccount[] = [];
    for await (const account of foldJournal(database, addresses)) {
      if (signal.aborted) throw new RetryableError('Stopped before everything was compared');
      batch.push(account);
      if (batch.length < ACCOUNTS_AT_ONCE) continue;
      differences.push(...(await compare(database, batch)));
      batch = [];
    }
    differences.push(...(await compare(database, batch)));
    const unexplained = await selectUnexplained(database);
    const rows = await readRows(database, unexplained);
    for (const [address, row] of rows) {
      differences.push(...compareRows({ against: 'journal', address }, row, undefined));
    }
    return differences;
  });
}

async function compare(
  database: Database,
  accounts: readonly FoldedAccount[],
): Promise<Difference[]> {
  const rows = await readRows(
    database,
    accounts.map(({ address }) => address),
  );
  return accounts.flatMap((account) => {
    const { address } = account;
    return compareRows({ against: 'journal', address }, rows.get(address), account);
  });
}
