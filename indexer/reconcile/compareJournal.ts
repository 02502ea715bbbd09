import type pg from 'pg';
import type { Database } from '../../common/postgres.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import { RetryableError } from '../errors.ts';
import { selectUnexplained } from '../statements/selectUnexplained.ts';
import { compareRows, type Difference } from './difference.ts';
import { type FoldedAccount, foldJournal } from './foldJournal.ts';
import { readRows } from './readRows.ts';
import { inSnapshot } from './snapshot.ts';

/** So many accounts' rows are read at once. */
const ACCOUNTS_AT_ONCE = 500;

/**
 * Compares the tables with what the journal's events fold to, at one moment: closed jobs, too,
 * which the ledger no longer shows.
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
