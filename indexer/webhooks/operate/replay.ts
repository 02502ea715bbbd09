import type pg from 'pg';
import { inTransaction } from '../../../common/postgres.ts';
import type { DeliveryQueue, DueDelivery } from '../deliver/queue.ts';
import { TEST_EVENT } from '../testEvent.ts';
import { type DeliveryFilter, MATCHES, parametersOf } from './deliveries.ts';
import { WebhookNotFoundError } from './errors.ts';
import { lockSendable } from './webhooks.ts';

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
  queue: DeliveryQueue,
  range: Pick<DeliveryFilter, 'webhookId' | 'since' | 'until'>,
): Promise<number> {
  const filter = { ...range, statuses: ['failed', 'undelivered'] as const };
  let count = 0;
  let after = 0n;
  for (let size = BATCH; size === BATCH; count += size) {
    const due = await inTransaction(pool, async (client) => {
      await lockSendable(client, range.webhookId);
      const { rows } = await client.query<DueRow>(
        `with replayed as (
           update service.webhook_deliveries set status = 'pending', due_at = now()
           where id in (
             select id from service.webhook_deliveries
             where ${MATCHES} and id > $5 and event <> $7
             order by id limit $6
           )
           returning id, webhook_id, attempts
         )
         select * from replayed order by id`,
        [...parametersOf(filter), after, BATCH, TEST_EVENT],
      );
      const batch = rows.map(dueNow);
      await queue.put(client, batch);
      return batch;
    });
    size = due.length;
    after = due.at(-1)?.id ?? after;
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
  queue: DeliveryQueue,
  { webhookId, deliveryId }: { webhookId: string; deliveryId: bigint },
): Promise<void> {
  await inTransaction(pool, async (client) => {
    await lockSendable(client, webhookId);
    const { rows } = await client.query<DueRow>(
      `update service.webhook_deliveries set status = 'pending', due_at = now()
       where id = $1 and webhook_id = $2 and status in ('failed', 'undelivered')
       returning id, webhook_id, attempts`,
      [deliveryId, webhookId],
    );
    if (rows.length === 0) {
      throw new WebhookNotFoundError(
        `The webhook ${webhookId} has no failed or undelivered delivery ${deliveryId}.`,
      );
    }
    await queue.put(client, rows.map(dueNow));
  });
}

interface DueRow {
  id: bigint;
  webhook_id: string;
  attempts: number;
}

function dueNow({ id, webhook_id, attempts }: DueRow): DueDelivery {
  return { id, webhookId: webhook_id, attempt: attempts + 1, dueAt: null, isRequested: true };
}
