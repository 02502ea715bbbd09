import type { Addresses } from '../../programs/client/addresses.ts';
import type { Database } from '../../runtime/postgres.ts';
import { deleteTransaction } from '../statements/deleteTransaction.ts';
import { notifyJobs } from '../statements/notifyJobs.ts';
import { selectAccountEvents } from '../statements/selectAccountEvents.ts';
import { selectSequences } from '../statements/selectSequences.ts';
import { undoEvents } from '../statements/undoEvents.ts';
import { jobsOf } from './applyTransaction.ts';
import { foldHeldEvents } from './foldEvents.ts';
import { changesOf } from './folds/index.ts';
import type { TableName } from './tables.ts';
import { writeChange } from './writeChange.ts';

/**
 * Takes back a transaction that the ledger no longer has. Every account that it changed, or that
 * later events changed on top of it, is made anew from what is left in the journal; then the
 * transactions that took its place are folded, if they have arrived already.
 */
export async function rollBack(
  database: Database,
  signature: string,
  addresses: Addresses,
): Promise<void> {
  const undone = await undoEvents(database, signature);
  await deleteTransaction(database, signature);
  const accounts = new Map<string, TableName>();
  for (const event of undone) {
    for (const { address, table } of changesOf(event, addresses)) accounts.set(address, table);
  }
  const reached = new Map<string, bigint>();
  for (const [address, table] of accounts) {
    await rebuildAccount(database, { address, table }, addresses);
    reached.set(address, 0n);
  }
  for (const [address, sequence] of await selectSequences(database, [...accounts.keys()])) {
    reached.set(address, sequence);
  }
  const folded = await foldHeldEvents(database, reached, addresses);
  await notifyJobs(database, jobsOf([...undone, ...folded]));
}

async function rebuildAccount(
  database: Database,
  account: { address: string; table: TableName },
  addresses: Addresses,
): Promise<void> {
  await database.query(`delete from mirror.${account.table} where address = $1`, [account.address]);
  for (const event of await selectAccountEvents(database, account.address)) {
    for (const change of changesOf(event, addresses)) {
      if (change.address === account.address) await writeChange(database, change);
    }
  }
}
