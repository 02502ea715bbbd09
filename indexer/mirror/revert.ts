import type { TableName } from '../../common/database/mirrorTables.ts';
import type { Database } from '../../common/postgres.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import { changesOf } from '../fold/folds.ts';
import { selectAccountEvents } from '../sql/journal.ts';
import { selectSequences } from '../sql/progress.ts';
import { deleteTransaction, undoEvents } from '../sql/undo.ts';
import { atomically, writeChanges } from '../sql/writeChanges.ts';
import type { WebhookOutbox } from '../webhooks/announce/webhookOutbox.ts';
import { applyTransaction, foldHeldEvents, notifyReaders } from './apply.ts';
import { type MirrorContext, notifierOf } from './progress.ts';

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
  await outbox?.withdraw(database, { signature, events: undone });
  const folded = await foldHeldEvents(database, reached, addresses);
  await notifyReaders(database, [...undone, ...folded]);
  await outbox?.announce(database, folded);
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
      ? applyTransaction(database, landed, addresses, { notify: notifierOf(context) })
      : [];
  });
  onFolded(folded);
}
