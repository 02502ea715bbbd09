import type pg from 'pg';
import { type Database, inTransaction } from '../common/postgres.ts';
import { BUDGET_SECONDS, type Budget, BudgetSpentError, spendRemaining } from './budget.ts';
import { notifyDue } from './due.ts';
import { IS_KEY, lockSendable, type WebhookKey, WebhookNotFoundError } from './webhooks.ts';

/** Undelivered: its webhook was not active, so it is not sent unless it is replayed. */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'undelivered'] as const;

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Some of a webhook's deliveries. */
interface DeliveryFilter {
  readonly webhook: WebhookKey;
  readonly statuses: readonly DeliveryStatus[];
  /** By the ledger's time of the event: from the first, up to but without the second. */
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

/** A delivery, with how its last attempt went. */
export interface DeliverySummary {
  readonly id: bigint;
  readonly event_id: string;
  readonly event: string;
  readonly created_at: Date;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  /** Of the next attempt; null where none is due yet. */
  readonly due_at: Date | null;
  readonly delivered_at: Date | null;
  /** The transaction of the event; null of a test. */
  readonly signature: string | null;
  /** Null before the first attempt; the others may be null besides. */
  readonly started_at: Date | null;
  readonly duration_ms: number | null;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly response: string | null;
}

const SUMMARY = `
  delivery.id, event_id, event, created_at, status, attempts, signature, delivered_at,
  case when due_at < 'infinity' then due_at end as due_at,
  started_at, duration_ms, status_code, error, response`;

const WITH_LAST_ATTEMPT = `
  service.webhook_deliveries delivery
  left join service.webhook_attempts last
    on last.delivery_id = delivery.id and last.attempt = delivery.attempts`;

const IS_OF_WEBHOOK = `webhook_id = (select id from service.webhooks where ${IS_KEY})`;

/**
 * A webhook's deliveries, newest first.
 *
 * @param page.before continues after that delivery
 * @param page.event only events of this kind
 */
export async function listDeliveries(
  database: Database,
  filter: DeliveryFilter,
  page: { limit: number; before?: bigint | undefined; event?: string | undefined },
): Promise<DeliverySummary[]> {
  const { limit, before, event } = page;
  const { rows } = await database.query<DeliverySummary>(
    `select ${SUMMARY} from ${WITH_LAST_ATTEMPT}
     where ${MATCHES} and ($6::bigint is null or delivery.id < $6)
       and ($7::text is null or event = $7)
     order by delivery.id desc limit $8`,
    [...parametersOf(filter), before ?? null, event ?? null, limit],
  );
  return rows;
}

/** One attempt at a delivery. */
export interface AttemptRow {
  readonly attempt: number;
  readonly started_at: Date;
  readonly duration_ms: number | null;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly response: string | null;
}

/** A delivery with its body and every attempt at it. @throws WebhookNotFoundError */
export async function readDelivery(
  database: Database,
  { webhook, deliveryId }: { webhook: WebhookKey; deliveryId: bigint },
): Promise<{ delivery: DeliverySummary; body: string; attempts: AttemptRow[] }> {
  const { rows } = await database.query<DeliverySummary & { body: string }>(
    `select ${SUMMARY}, body from ${WITH_LAST_ATTEMPT} where ${IS_OF_WEBHOOK} and delivery.id = $3`,
    [webhook.id, webhook.wallet, deliveryId],
  );
  const [delivery] = rows;
  if (!delivery) throw deliveryNotFound(webhook, deliveryId);
  const { rows: attempts } = await database.query<AttemptRow>(
    `select attempt, started_at, duration_ms, status_code, error, response
     from service.webhook_attempts
     where delivery_id = (
       select delivery.id from service.webhook_deliveries delivery
       where ${IS_OF_WEBHOOK} and delivery.id = $3
     )
     order by attempt`,
    [webhook.id, webhook.wallet, deliveryId],
  );
  return { delivery, body: delivery.body, attempts };
}

function deliveryNotFound({ id }: WebhookKey, deliveryId: bigint): WebhookNotFoundError {
  return new WebhookNotFoundError(`The webhook ${id} has no delivery ${deliveryId}.`);
}

/** The condition on a delivery, on the first five parameters. */
const MATCHES = `${IS_OF_WEBHOOK} and status = any($3)
  and created_at >= coalesce($4::timestamptz, '-infinity')
  and created_at < coalesce($5::timestamptz, 'infinity')`;

function parametersOf({ webhook, statuses, since, until }: DeliveryFilter): unknown[] {
  return [webhook.id, webhook.wallet, statuses, since ?? null, until ?? null];
}

/** How much of a replay was done. */
interface ReplayResult {
  /** Deliveries that are due now. */
  readonly replayed: number;
  /** Above the budget: they are as they were, and can be replayed later. */
  readonly left: number;
  /** Null when nothing is left. */
  readonly retryAfterSeconds: number | null;
}

const replayResult = (replayed: number, left: number): ReplayResult => ({
  ...{ replayed, left },
  retryAfterSeconds: left > 0 ? BUDGET_SECONDS : null,
});

/** Sent in one database transaction, so that a long range locks a webhook for moments only. */
const BATCH = 1_000;

/**
 * Sends again what failed or was not delivered, except tests, in the order of the ledger. The count
 * of attempts continues. So an event that has failed five times is tried once more, any other as
 * often as it has attempts left.
 *
 * @param budget none for operators
 * @throws WebhookNotFoundError, WebhookDisabledError
 * @throws BudgetSpentError when none of them fits the budget
 */
export async function replayDeliveries(
  pool: pg.Pool,
  range: Pick<DeliveryFilter, 'webhook' | 'since' | 'until'>,
  budget?: Budget,
): Promise<ReplayResult> {
  const parameters = parametersOf({ ...range, statuses: ['failed', 'undelivered'] });
  const isReplayed = `${MATCHES} and signature is not null`;
  let count = 0;
  let after = 0n;
  try {
    for (let isWhole = true; isWhole; ) {
      const part = await inTransaction(pool, async (client) => {
        const { wallet, url } = await lockSendable(client, range.webhook);
        const { rows } = await client.query<{ id: bigint }>(
          `select id from service.webhook_deliveries
           where ${isReplayed} and id > $6 order by id limit $7`,
          [...parameters, after, BATCH],
        );
        const granted = await spendRemaining(client, budget, {
          ...{ wallet, url },
          deliveries: rows.length,
        });
        const ids = rows.slice(0, granted).map(({ id }) => id);
        await sendAgain(client, ids);
        return ids;
      });
      count += part.length;
      after = part.at(-1) ?? after;
      isWhole = part.length === BATCH;
    }
  } catch (error) {
    if (!(error instanceof BudgetSpentError) || count === 0) throw error;
  }
  if (!budget) return replayResult(count, 0);
  const { rows } = await pool.query<{ left: number }>(
    `select count(*)::integer as left from service.webhook_deliveries
     where ${isReplayed} and id > $6`,
    [...parameters, after],
  );
  return replayResult(count, rows[0]?.left ?? 0);
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
    const { rows } = await client.query<{ id: bigint }>(
      `select id from service.webhook_deliveries delivery
       where ${IS_OF_WEBHOOK} and delivery.id = $3 and status in ('failed', 'undelivered')`,
      [webhook.id, webhook.wallet, deliveryId],
    );
    if (rows.length === 0) {
      throw new WebhookNotFoundError(
        `The webhook ${webhook.id} has no failed or undelivered delivery ${deliveryId}.`,
      );
    }
    await sendAgain(client, [deliveryId]);
  });
}

/**
 * Sends chosen events again, those that arrived too, the oldest first. One that is pending is on its
 * way already.
 *
 * @throws WebhookNotFoundError when one of them is no delivery of the webhook: then none is sent
 * @throws WebhookDisabledError
 * @throws BudgetSpentError when none of them fits the budget
 */
export async function resendDeliveries(
  pool: pg.Pool,
  { webhook, deliveryIds }: { webhook: WebhookKey; deliveryIds: readonly bigint[] },
  budget?: Budget,
): Promise<ReplayResult> {
  return inTransaction(pool, async (client) => {
    const { wallet, url } = await lockSendable(client, webhook);
    const { rows } = await client.query<{ id: bigint; status: DeliveryStatus }>(
      `select delivery.id, status from service.webhook_deliveries delivery
       where ${IS_OF_WEBHOOK} and delivery.id = any($3) order by delivery.id`,
      [webhook.id, webhook.wallet, deliveryIds],
    );
    const missing = deliveryIds.find((id) => !rows.some((row) => row.id === id));
    if (missing !== undefined) throw deliveryNotFound(webhook, missing);
    const ids = rows.filter(({ status }) => status !== 'pending').map(({ id }) => id);
    const granted = await spendRemaining(client, budget, {
      ...{ wallet, url },
      deliveries: ids.length,
    });
    await sendAgain(client, ids.slice(0, granted));
    return replayResult(granted, ids.length - granted);
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
