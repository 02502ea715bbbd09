import type { TableName } from '../../common/database/mirrorTables.ts';
import type { Database } from '../../common/postgres.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import type { LedgerEvent } from '../fold/event.ts';
import { changesOf } from '../fold/folds.ts';
import { eventOf, type JournalRow, journalColumns, selectAccountEvents } from '../sql/journal.ts';
import { selectSequences } from '../sql/progress.ts';
import { atomically, writeChanges } from '../sql/writeChanges.ts';
import type { WebhookOutbox } from '../webhooks/announce/webhookOutbox.ts';
import { applyTransactions, foldHeldEvents, notifyOfLost } from './apply.ts';
import { type MirrorContext, notifierOf } from './progress.ts';

/**
 * Reverts a transaction that is not, or no longer, in the slot where it was found. One that has
 * landed again has other sequences, balances and times. It is applied in the same database
 * transaction, since the cursors may have passed its slot.
 *
 * @param slot where the ledger has it now; undefined when it is lost
 */
export async function revertAndReapply(
  context: MirrorContext,
  signature: string,
  slot: bigint | undefined,
): Promise<void> {
  const { database, source, addresses, outbox, onFolded } = context;
  const landed = slot === undefined ? null : await source.read({ signature, slot, failed: false });
  const folded = await atomically(database, async () => {
    await revertTransaction(database, signature, addresses, outbox);
    return landed
      ? applyTransactions(database, [landed], addresses, { notify: notifierOf(context) })
      : [];
  });
  onFolded(folded);
}

/**
 * Reverts a transaction that the ledger no longer has. It folds every account that the transaction,
 * or a later event on top of it, changed from the rest of the journal. Then it folds the
 * transactions that took its place, if they have arrived already.
 */
export async function revertTransaction(
  database: Database,
  signature: string,
  addresses: Addresses,
  outbox: WebhookOutbox | null = null,
): Promise<void> {
  const undone = await undoEvents(database, signature, addresses);
  await database.query('delete from transactions where signature = $1', [signature]);
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
  await outbox?.withdraw(database, { signature, events: undone });
  const folded = await foldHeldEvents(database, reached, addresses);
  await notifyOfLost(database, [...undone, ...folded]);
  await outbox?.announce(database, folded);
}

/** An account's changes after one sequence, and before another one; null: to the last. */
interface LostChanges {
  readonly address: string;
  readonly after: bigint;
  readonly before: bigint | null;
}

/**
 * Marks a transaction's events as not folded, and with them every event that was folded on top of
 * them, through all accounts that they share. Each account's changes are read once: thousands of
 * events may share a worker or a wallet by then.
 *
 * @returns the events whose changes the tables must lose
 */
async function undoEvents(
  database: Database,
  signature: string,
  addresses: Addresses,
): Promise<LedgerEvent[]> {
  /** By account, the first change that is lost. */
  const lowest = new Map<string, bigint>();
  let undone: LedgerEvent[] = [];
  let found = await undoTransaction(database, signature);
  while (found.length > 0) {
    undone = undone.concat(found);
    found = await undoChanges(database, lowerAll(lowest, found, addresses));
  }
  return undone;
}

/** @returns what else is lost, where events are */
function lowerAll(
  lowest: Map<string, bigint>,
  events: readonly LedgerEvent[],
  addresses: Addresses,
): LostChanges[] {
  const before = new Map(lowest);
  const lowered = new Set<string>();
  for (const { address, sequence } of events.flatMap((event) => changesOf(event, addresses))) {
    const known = lowest.get(address);
    if (known !== undefined && known <= sequence) continue;
    lowest.set(address, sequence);
    lowered.add(address);
  }
  return [...lowered].map((address) => ({
    address,
    after: lowest.get(address) as bigint,
    before: before.get(address) ?? null,
  }));
}

async function undoTransaction(database: Database, signature: string): Promise<LedgerEvent[]> {
  const { rows } = await database.query<JournalRow>(
    `update journal set folded = false where signature = $1 and folded returning ${journalColumns}`,
    [signature],
  );
  return rows.map(eventOf);
}

async function undoChanges(
  database: Database,
  lost: readonly LostChanges[],
): Promise<LedgerEvent[]> {
  const { rows } = await database.query<JournalRow>(
    `
      update journal set folded = false
      where folded and (signature, instruction_index, inner_index) in (
        select change.signature, change.instruction_index, change.inner_index
        from unnest($1::text[], $2::numeric[], $3::numeric[]) as lost (address, after, before)
        join account_changes change
          on change.address = lost.address and change.sequence > lost.after
          and change.sequence < coalesce(lost.before, 'infinity')
      )
      returning ${journalColumns}`,
    [
      lost.map(({ address }) => address),
      lost.map(({ after }) => after),
      lost.map(({ before }) => before),
    ],
  );
  return rows.map(eventOf);
}

async function rebuildAccount(
  database: Database,
  account: { address: string; table: TableName },
  addresses: Addresses,
): Promise<void> {
  await database.query(`delete from ${account.table} where address = $1`, [account.address]);
  for await (const events of selectAccountEvents(database, account.address)) {
    const changes = events.flatMap((event) => changesOf(event, addresses));
    await writeChanges(
      database,
      changes.filter(({ address }) => address === account.address),
    );
  }
}
