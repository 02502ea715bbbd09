import type pg from 'pg';
import { type Database, inTransaction } from '../../../common/postgres.ts';
import { setAside } from '../deliver/setAside.ts';

/** There is no such webhook, or no such delivery of it. */
export class WebhookNotFoundError extends Error {
  override name = 'WebhookNotFoundError';
}

/** The webhook was disabled by its owner: nothing is sent to it until it is enabled. */
export class WebhookDisabledError extends Error {
  override name = 'WebhookDisabledError';
}

export function notFound(webhookId: string): WebhookNotFoundError {
  return new WebhookNotFoundError(`There is no webhook ${webhookId}.`);
}

/** How a delivery's last attempt went. */
interface LastOutcome {
  readonly status_code: number | null;
  readonly error: string | null;
  readonly response: string | null;
  readonly duration_ms: number | null;
}

/** @returns undefined while the delivery is still to be made, or tried again */
export async function selectOutcome(
  database: Database,
  deliveryId: bigint,
): Promise<LastOutcome | undefined> {
  const { rows } = await database.query<LastOutcome>(
    `select status_code, error, response, duration_ms from service.webhook_deliveries delivery
     join service.webhook_attempts last
       on last.delivery_id = delivery.id and last.attempt = delivery.attempts
     where delivery.id = $1 and status <> 'pending'`,
    [deliveryId],
  );
  return rows[0];
}

type WebhookStatus = 'active' | 'failed' | 'disabled';

/** A webhook as its operator may see it, with what lies there for it. */
interface WebhookSummary {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly status: WebhookStatus;
  readonly created_at: Date;
  readonly pending: number;
  readonly failed: number;
  readonly undelivered: number;
}

/** A wallet's webhooks, oldest first. */
export async function listWebhooks(database: Database, wallet: string): Promise<WebhookSummary[]> {
  const { rows } = await database.query<WebhookSummary>(
    `select webhook.id, url, events, webhook.status, webhook.created_at,
       count(*) filter (where delivery.status = 'pending')::integer as pending,
       count(*) filter (where delivery.status = 'failed')::integer as failed,
       count(*) filter (where delivery.status = 'undelivered')::integer as undelivered
     from service.webhooks webhook
     left join service.webhook_deliveries delivery on delivery.webhook_id = webhook.id
     where wallet = $1
     group by webhook.id
     order by webhook.created_at, webhook.id`,
    [wallet],
  );
  return rows;
}

/** @throws WebhookNotFoundError */
export async function assertWebhook(database: Database, id: string): Promise<void> {
  const { rowCount } = await database.query('select from service.webhooks where id = $1', [id]);
  if (rowCount === 0) throw notFound(id);
}

/** Sends events from now on; what was kept meanwhile can be replayed. @throws WebhookNotFoundError */
export async function enableWebhook(pool: pg.Pool, id: string): Promise<void> {
  await setStatus(pool, id, 'active');
}

/** Sends nothing any more; events are kept as undelivered. @throws WebhookNotFoundError */
export async function disableWebhook(pool: pg.Pool, id: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    await setStatus(client, id, 'disabled');
    await setAside(client, id);
  });
}

/** Locks a webhook to which something is to be sent. @throws WebhookNotFoundError, WebhookDisabledError */
export async function lockSendable(client: Database, id: string): Promise<{ apiVersion: string }> {
  const { rows } = await client.query<{ api_version: string; status: WebhookStatus }>(
    'select api_version, status from service.webhooks where id = $1 for no key update',
    [id],
  );
  if (!rows[0]) throw notFound(id);
  if (rows[0].status === 'disabled') {
    throw new WebhookDisabledError(`The webhook ${id} is disabled: enable it first.`);
  }
  return { apiVersion: rows[0].api_version };
}

async function setStatus(database: Database, id: string, status: WebhookStatus): Promise<void> {
  const { rowCount } = await database.query(
    'update service.webhooks set status = $2 where id = $1',
    [id, status],
  );
  if (rowCount === 0) throw notFound(id);
}
