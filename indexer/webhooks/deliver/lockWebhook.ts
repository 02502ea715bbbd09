import type { Database } from '../../../common/postgres.ts';

/**
 * Locks the webhook of a delivery. Whoever changes deliveries does so first, and looks after the
 * queue last, so that nobody waits for each other in a circle.
 *
 * @returns undefined when the webhook was deleted
 */
export async function lockWebhook(
  database: Database,
  deliveryId: bigint,
): Promise<{ id: string; status: string } | undefined> {
  const { rows } = await database.query<{ id: string; status: string }>({
    name: 'lock_webhook_of_delivery',
    text: `
      select id, status from service.webhooks
      where id = (select webhook_id from service.webhook_deliveries where id = $1)
      for no key update`,
    values: [deliveryId],
  });
  return rows[0];
}
