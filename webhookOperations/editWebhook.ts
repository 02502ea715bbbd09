import type pg from 'pg';
import { hostOf } from '../common/net/addressGuard.ts';
import { type Database, inTransaction } from '../common/postgres.ts';
import type { EventKind } from '../webhooks/events.ts';
import { type Budget, takeBudget } from './budget.ts';
import { markUndelivered } from './markUndelivered.ts';
import { IS_KEY, notFound, type WebhookKey } from './webhooks.ts';

/** What its owner changes of a webhook: at least one of them, as a creation would take them. */
export interface WebhookChange {
  readonly url?: string | undefined;
  readonly events?: readonly EventKind[] | undefined;
}

/** The wallet has another webhook with the same url and events. */
export class DuplicateWebhookError extends Error {
  override name = 'DuplicateWebhookError';
  readonly webhookId: string;

  constructor(webhookId: string) {
    super('A webhook with this url and these events exists.');
    this.webhookId = webhookId;
  }
}

/**
 * Changes where a webhook's events go, or which ones, and makes it active. Its id, secret and form of
 * the bodies stay. An attempt goes to the url that stands when it begins. So what is pending goes to
 * the new one from its next attempt on, at its time. One that runs ends at the old url: it decides
 * about its delivery, and no more about the webhook. An event counts by the kinds that stand when it
 * is announced. What waits of a kind that was removed is sent nevertheless, or can be replayed.
 *
 * @param budget none for operators. What was requested goes to a new host within that host's budget;
 *   the rest can be replayed
 * @throws WebhookNotFoundError, DuplicateWebhookError
 */
export async function editWebhook(
  pool: pg.Pool,
  key: WebhookKey,
  change: WebhookChange,
  budget?: Budget,
): Promise<void> {
  await inTransaction(pool, async (client) => {
    const wallet = await ownerOf(client, key);
    await lockWebhooks(client, wallet);
    const { rows } = await client.query<Target>(
      'select id, url, events from service.webhooks where wallet = $1 order by created_at, id',
      [wallet],
    );
    const present = rows.find(({ id }) => id === key.id);
    if (!present) throw notFound(key);
    const { id, url } = present;
    const edited = {
      ...{ id, url: change.url ?? url },
      events: (change.events ?? present.events).toSorted(),
    };
    assertUnique(rows, edited);
    // Waits for all else that changes the webhook, and takes nothing of that back.
    const { rowCount } = await client.query(
      `update service.webhooks set url = $2, events = $3, status = 'active' where id = $1`,
      [id, edited.url, edited.events],
    );
    // It was deleted since.
    if (rowCount === 0) throw notFound(key);
    if (hostOf(new URL(edited.url)) !== hostOf(new URL(url))) {
      await moveRequested(client, budget, edited);
    }
  });
}

/** Until the transaction ends, no other one changes which webhooks the wallet has. */
export async function lockWebhooks(database: Database, wallet: string): Promise<void> {
  await database.query(`select pg_advisory_xact_lock(hashtextextended('webhooks ' || $1, 0))`, [
    wallet,
  ]);
}

/** Where a webhook's events go, and which ones. */
interface Target {
  readonly id: string;
  readonly url: string;
  /** Sorted. */
  readonly events: readonly string[];
}

/**
 * @param present what the wallet has, which the transaction has locked
 * @param wanted with the id that it has or gets
 * @throws DuplicateWebhookError
 */
export function assertUnique(present: readonly Target[], { id, url, events }: Target): void {
  const same = present.find(
    (other) => other.id !== id && other.url === url && other.events.join() === events.join(),
  );
  if (same) throw new DuplicateWebhookError(same.id);
}

/** @throws WebhookNotFoundError */
async function ownerOf(database: Database, key: WebhookKey): Promise<string> {
  const { rows } = await database.query<{ wallet: string }>(
    `select wallet from service.webhooks where ${IS_KEY}`,
    [key.id, key.wallet],
  );
  if (!rows[0]) throw notFound(key);
  return rows[0].wallet;
}

/** What was requested counts for its wallet already, and from now on for the new host. */
async function moveRequested(
  database: Database,
  budget: Budget | undefined,
  { id, url }: Pick<Target, 'id' | 'url'>,
): Promise<void> {
  const { rows } = await database.query<{ id: bigint }>(
    `select id from service.webhook_deliveries
     where webhook_id = $1 and status = 'pending' and is_requested order by due_at, id`,
    [id],
  );
  const urls = rows.map(() => url);
  const { granted } = await takeBudget(database, budget, { wallet: null, urls });
  await markUndelivered(
    database,
    rows.filter((_, index) => !granted[index]).map((row) => row.id),
  );
}
