import type { Database } from '../../../runtime/postgres.ts';

/** What was to be sent to a webhook is kept for its owner instead. */
export async function setAside(database: Database, webhookId: string): Promise<void> {
  await database.query(
    `update service.webhook_deliveries set status = 'undelivered', due_at = null
     where webhook_id = $1 and status = 'pending'`,
    [webhookId],
  );
}

/** The same with one event: others may be there at the owner's wish. */
export async function setOneAside(database: Database, deliveryId: bigint): Promise<void> {
  await database.query(
    `update service.webhook_deliveries set status = 'undelivered', due_at = null
     where id = $1 and status = 'pending'`,
    [deliveryId],
  );
}
