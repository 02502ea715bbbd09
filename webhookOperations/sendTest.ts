import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { inTransaction } from '../common/postgres.ts';
import { notifyDue } from './due.ts';
import { renderEnvelope, TEST_EVENT } from './envelope.ts';
import { lockSendable, type WebhookKey } from './webhooks.ts';

/**
 * Sends a webhook an event of a kind of its own, `webhook.test`, whatever it subscribes to. It goes
 * the way of all events, but once: a test that fails changes nothing, and one that succeeds makes a
 * failed webhook active again.
 *
 * @returns the delivery, to see how it goes
 * @throws WebhookNotFoundError, WebhookDisabledError
 */
export async function sendTestEvent(pool: pg.Pool, key: WebhookKey): Promise<bigint> {
  return inTransaction(pool, async (client) => {
    const { apiVersion } = await lockSendable(client, key);
    const id = `evt_${randomUUID().replaceAll('-', '')}`;
    const createdAt = new Date().toISOString();
    const data = { webhook_id: key.id };
    const { rows } = await client.query<{ id: bigint }>(
      `insert into service.webhook_deliveries (webhook_id, event_id, event, created_at, body,
         status, due_at, is_requested)
       values ($1, $2, $3, $4, $5, 'pending', now(), true)
       returning id`,
      [
        ...[key.id, id, TEST_EVENT, createdAt],
        renderEnvelope({ id, event: TEST_EVENT, createdAt, apiVersion, data }),
      ],
    );
    await notifyDue(client);
    return rows[0]?.id as bigint;
  });
}
