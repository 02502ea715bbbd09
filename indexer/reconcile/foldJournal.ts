import type { Database } from '../../common/postgres.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import type { Change } from '../apply/change.ts';
import { changesOf } from '../apply/folds/index.ts';
import { type FoldedEvent, selectFoldedEvents } from '../statements/selectFoldedEvents.ts';
import type { ComparedRow } from './difference.ts';

const PAGE = 1_000;

/** What an account's row should be. */
export interface FoldedAccount extends ComparedRow {
  readonly address: string;
}

/**
 * Folds the journal anew, account by account and apart from the tables, in bounded memory. Where a
 * change is missing, the fold of that account ends, so that its sequence tells.
 */
export async function* foldJournal(
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
  const values = { ...account.values, ...change.values };
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
