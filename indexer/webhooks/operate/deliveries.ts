import type pg from 'pg';
import { type Database, inTransaction } from '../../../common/postgres.ts';
import { TEST_EVENT } from '../deliver/exchange.ts';
import { notifyDue } from '../deliver/take.ts';
import { lockSendable, WebhookNotFoundError } from './webhooks.ts';

/** Undelivered: its webhook was not active, so nobody sends it unless it is replayed. */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'undelivered'] as const;

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Some of a webhook's deliveries. */
interface DeliveryFilter {
  readonly webhookId: string;
  readonly statuses: readonly DeliveryStatus[];
  /** By the ledger's time of the event: from the first, up to but without the second. */
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

/** A delivery, with how its last attempt went. */
interface DeliverySummary {
  readonly id: bigint;
  readonly event_id: string;
  readonly event: string;
  readonly created_at: Date;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly response: string | null;
}

/** A webhook's deliveries, newest first. @param before continues after that delivery */
export async function listDeliveries(
  database: Database,
  filter: DeliveryFilter,
  { limit, before }: { limit: number; before?: bigint | undefined },
): Promise<DeliverySummary[]> {
  const { rows } = await database.query<DeliverySummary>(
    `select id, event_id, event, created_at, status, attempts, status_code, error, response
     from service.webhook_deliveries delivery
     left join service.webhook_attempts last
       on last.delivery_id = delivery.id and last.attempt = delivery.attempts
     where ${MATCHES} and ($5::bigint is null or id < $5)
     order by id desc limit $6`,
    [...parametersOf(filter), before ?? null, limit],
  );
  return rows;
}

/** The condition on a delivery, on the first four parameters. */
const MATCHES = `webhook_id = $1 and status = any($2)
  and created_at >= coalesce($3::timestamptz, '-infinity')
  and created_at < coalesce($4::timestamptz, 'infinity')`;

function parametersOf({ webhookId, statuses, since, until }: DeliveryFilter): unknown[] {
  return [webhookId, statuses, since ?? null, until ?? null];
}

/** In one database transaction, so that a long range locks a webhook for moments only. */
const BATCH = 1_000;

/**
 * Sends again what failed or was not delivered, tests aside, in the order of the ledger. The count of attempts
 * goes on: an event that has failed five times or more is tried once more, any other as often as
 * it has attempts left.
 *
 * @returns how many deliveries are due now
 * @throws WebhookNotFoundError, WebhookDisabledError
 */
export async function replayDeliveries(
  pool: pg.Pool,
  range: Pick<DeliveryFilter, 'webhookId' | 'since' | 'until'>,
): Promise<number> {
  const filter = { ...range, statuses: ['failed', 'undelivered'] as const };
  let count = 0;
  let after = 0n;
  for (let size = BATCH; size === BATCH; count += size) {
    const replayed = await inTransaction(pool, async (client) => {
      await lockSendable(client, range.webhookId);
      const { rows } = await client.query<{ id: bigint }>(
        `with replayed as (
           update service.webhook_deliveries
           set status = 'pending', due_at = now(), is_requested = true
           where id in (
             select id from service.webhook_deliveries
             where ${MATCHES} and id > $5 and event <> $7
             order by id limit $6
           )
           returning id
         )
         select * from replayed order by id`,
        [...parametersOf(filter), after, BATCH, TEST_EVENT],
      );
      if (rows.length > 0) await notifyDue(client);
      return rows;
    });
    size = replayed.length;
    after = replayed.at(-1)?.id ?? after;
  }
  return count;
}

/**
 * Sends one event again.
 *
 * @throws WebhookNotFoundError when it is not one that failed or was not delivered
 * @throws WebhookDisabledError
 */
export async function replayDelivery(
  pool: pg.Pool,
  { webhookId, deliveryId }: { webhookId: string; deliveryId: bigint },
): Promise<void> {
  await inTransaction(pool, async (client) => {
    await lockSendable(client, webhookId);
    const { rowCount } = await client.query(
      `update service.webhook_deliveries
       set status = 'pending', due_at = now(), is_requested = true
       where id = $1 and webhook_id = $2 and status in ('failed', 'undelivered')`,
      [deliveryId, webhookId],
    );
    if (rowCount === 0) {
      throw new WebhookNotFoundError(
        `The webhook ${webhookId} has no failed or undelivered delivery ${deliveryId}.`,
      );
    }
    await notifyDue(client);
  });
}
