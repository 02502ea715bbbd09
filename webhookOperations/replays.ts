import type pg from 'pg';
import { type Database, inTransaction } from '../common/postgres.ts';
import { type Budget, budgetSpent, inBudget, takeBudget } from './budget.ts';
import { type DeliveryFilter, IS_CHOSEN, MATCHES, parametersOf } from './deliveries.ts';
import { notifyDue } from './due.ts';
import { lockSendable, type WebhookKey, WebhookNotFoundError } from './webhooks.ts';

/** What became of the deliveries that were to be sent again. */
interface Resent {
  /** Due now. */
  readonly replayed: number;
  /** On their way already. */
  readonly pending: number;
  /** Of webhooks that are disabled: as they were. */
  readonly disabled: number;
  /** Above the budget: as they were, and can be sent again later. */
  readonly left: number;
  /** Until one more fits the budget; null where none is left. */
  readonly retryAfterSeconds: number | null;
}

/**
 * Sends a wallet's deliveries again, those that arrived and tests too, the oldest first. The count of
 * attempts continues.
 *
 * @throws WebhookNotFoundError when the wallet has no delivery of a given id: then none is sent
 * @throws BudgetSpentError when some could be sent, and none of them fits the budget
 */
export async function resendDeliveries(
  pool: pg.Pool,
  filter: DeliveryFilter & { readonly webhook: { readonly wallet: string } },
  budget: Budget,
): Promise<Resent> {
  return inBudget(pool, async (client) => {
    const parameters = parametersOf(filter);
    await client.query(
      `select from service.webhooks where ${IS_CHOSEN} order by id for no key update`,
      parameters.slice(0, 2),
    );
    const { all, pending, disabled } = await countMatching(client, parameters);
    if (all < new Set(filter.ids).size) {
      throw new WebhookNotFoundError('The wallet has no such delivery. Nothing was sent again.');
    }
    const sendable = await selectSendable(client, parameters, budget.perMinute + 1);
    const { granted, retryAfterSeconds, ...spent } = await takeBudget(client, budget, {
      wallet: filter.webhook.wallet,
      urls: sendable.map(({ url }) => url),
    });
    const ids = sendable.filter((_, index) => granted[index]).map(({ id }) => id);
    await sendAgain(client, ids);
    const left = all - pending - disabled - ids.length;
    if (left > 0 && ids.length === 0) throw budgetSpent(budget, retryAfterSeconds ?? 1, spent);
    return { replayed: ids.length, pending, disabled, left, retryAfterSeconds };
  });
}

interface Counts {
  readonly all: number;
  readonly pending: number;
  readonly disabled: number;
}

async function countMatching(database: Database, parameters: unknown[]): Promise<Counts> {
  const { rows } = await database.query<Counts>(
    `select count(*)::integer as all,
       count(*) filter (where not is_disabled and delivery.status = 'pending')::integer as pending,
       count(*) filter (where is_disabled)::integer as disabled
     from (
       select id, status = 'disabled' as is_disabled from service.webhooks where ${IS_CHOSEN}
     ) webhook
     cross join lateral (
       select status from service.webhook_deliveries where webhook_id = webhook.id and ${MATCHES}
     ) delivery`,
    parameters,
  );
  return rows[0] as Counts;
}

/** The oldest, so many of each webhook that one more than its budget is among them. */
async function selectSendable(
  database: Database,
  parameters: unknown[],
  limit: number,
): Promise<{ id: bigint; url: string }[]> {
  const { rows } = await database.query<{ id: bigint; url: string }>(
    `select delivery.id, url
     from (
       select id, url from service.webhooks where ${IS_CHOSEN} and status <> 'disabled'
     ) webhook
     cross join lateral (
       select id, created_at from service.webhook_deliveries
       where webhook_id = webhook.id and status <> 'pending' and ${MATCHES}
       order by created_at, id limit $10
     ) delivery
     order by created_at, delivery.id`,
    [...parameters, limit],
  );
  return rows;
}

/** Sent in one database transaction, so that a long range locks a webhook for moments only. */
const BATCH = 1_000;

/**
 * Sends again what of a webhook failed or was not delivered, except tests, in the order of the ledger.
 * It is for operators: without a budget. An event that has failed five times is tried once more,
 * any other as often as it has attempts left.
 *
 * @returns how many
 * @throws WebhookNotFoundError, WebhookDisabledError
 */
export async function replayDeliveries(
  pool: pg.Pool,
  range: Pick<DeliveryFilter, 'since' | 'until'> & { readonly webhook: WebhookKey },
): Promise<number> {
  const { webhook } = range;
  let [count, after] = [0, 0n];
  for (let isWhole = true; isWhole; ) {
    const ids = await inTransaction(pool, async (client) => {
      await lockSendable(client, webhook);
      const part = await selectMissing(client, range, after);
      await sendAgain(client, part);
      return part;
    });
    count += ids.length;
    after = ids.at(-1) ?? after;
    isWhole = ids.length === BATCH;
  }
  return count;
}

const MISSING = ['failed', 'undelivered'] as const;

/** The next ones of a webhook that the transaction has locked. */
async function selectMissing(
  database: Database,
  range: DeliveryFilter,
  after: bigint,
): Promise<bigint[]> {
  const { rows } = await database.query<{ id: bigint }>(
    `select id from service.webhook_deliveries
     where webhook_id = (select id from service.webhooks where ${IS_CHOSEN}) and ${MATCHES}
       and signature is not null and id > $10
     order by id limit $11`,
    [...parametersOf({ ...range, statuses: MISSING }), after, BATCH],
  );
  return rows.map(({ id }) => id);
}

/**
 * Sends one event again.
 *
 * @throws WebhookNotFoundError when it is not one that failed or was not delivered
 * @throws WebhookDisabledError
 */
export async function replayDelivery(
  pool: pg.Pool,
  { webhook, deliveryId }: { webhook: WebhookKey; deliveryId: bigint },
): Promise<void> {
  await inTransaction(pool, async (client) => {
    await lockSendable(client, webhook);
    const { rowCount } = await client.query(
      `select from service.webhook_deliveries
       where webhook_id = $1 and id = $2 and status = any($3)`,
      [webhook.id, deliveryId, MISSING],
    );
    if (rowCount === 0) {
      throw new WebhookNotFoundError(
        `The webhook ${webhook.id} has no failed or undelivered delivery ${deliveryId}.`,
      );
    }
    await sendAgain(client, [deliveryId]);
  });
}

/** Makes deliveries due, whose webhook the transaction has locked. */
async function sendAgain(client: Database, ids: readonly bigint[]): Promise<void> {
  if (ids.length === 0) return;
  await client.query(
    `update service.webhook_deliveries
     set status = 'pending', due_at = now(), is_requested = true, delivered_at = null
     where id = any($1)`,
    [ids],
  );
  await notifyDue(client);
}
