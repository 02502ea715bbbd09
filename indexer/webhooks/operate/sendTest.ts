import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { inTransaction } from '../../../common/postgres.ts';
import { renderEnvelope } from '../announce/deliveries.ts';
import { TEST_EVENT } from '../deliver/exchange.ts';
import { notifyDue } from '../deliver/take.ts';
import { lockSendable } from './webhooks.ts';

/**
 * Sends a webhook an event of a kind of its own, `webhook.test`, whatever it subscribes to. It goes
 * the way of all events, but once: a test that fails changes nothing, and one that succeeds makes a
 * failed webhook active again.
 *
 * @returns the delivery, to see how it goes
 * @throws WebhookNotFoundError, WebhookDisabledError
 */
export async function sendTestEvent(pool: pg.Pool, webhookId: string): Promise<bigint> {
  return inTransaction(pool, async (client) => {
    const { apiVersion } = await lockSendable(client, webhookId);
    const id = `evt_${randomUUID().replaceAll('-', '')}`;
    const createdAt = new Date().toISOString();
    const data = { webhook_id: webhookId };
    const { rows } = await client.query<{ id: bigint }>(
      `insert into service.webhook_deliveries (webhook_id, event_id, event, created_at, body,
         status, due_at, is_requested)
       values ($1, $2, $3, $4, $5, 'pending', now(), true)
       returning id`,
      [
        ...[webhookId, id, TEST_EVENT, createdAt],
        renderEnvelope({ id, event: TEST_EVENT, createdAt, apiVersion, data }),
      ],
    );
    await notifyDue(client);
    return rows[0]?.id as bigint;
  });
}
