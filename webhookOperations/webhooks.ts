import type pg from 'pg';
import { type Database, inTransaction } from '../common/postgres.ts';
import { markAllUndelivered } from './markUndelivered.ts';

/** A webhook, and whose it has to be. */
export interface WebhookKey {
  readonly id: string;
  /** Null: any wallet's. For an operator at a terminal, never for a request. */
  readonly wallet: string | null;
}

/** There is no such webhook, or no such delivery of it. */
export class WebhookNotFoundError extends Error {
  override name = 'WebhookNotFoundError';
}

/** The webhook was disabled by its owner: nothing is sent to it until it is enabled. */
export class WebhookDisabledError extends Error {
  override name = 'WebhookDisabledError';
}

export function notFound({ id }: Pick<WebhookKey, 'id'>): WebhookNotFoundError {
  return new WebhookNotFoundError(`There is no webhook ${id}.`);
}

/** The condition on a webhook, on the first two parameters of a statement. */
export const IS_KEY = '(id = $1 and ($2::text is null or wallet = $2))';

/** The result of a delivery's last attempt. */
interface LastResult {
  readonly status_code: number | null;
  readonly error: string | null;
  readonly response: string | null;
  readonly duration_ms: number | null;
}

/** @returns undefined while the delivery is still to be made, or tried again */
export async function selectLastResult(
  database: Database,
  deliveryId: bigint,
): Promise<LastResult | undefined> {
  const { rows } = await database.query<LastResult>(
    `select status_code, error, response, duration_ms from service.webhook_deliveries delivery
     join service.webhook_attempts last
       on last.delivery_id = delivery.id and last.attempt = delivery.attempts
     where delivery.id = $1 and status <> 'pending'`,
    [deliveryId],
  );
  return rows[0];
}

type WebhookStatus = 'active' | 'failed' | 'disabled';

/** A webhook with the numbers of deliveries that have not arrived. */
export interface WebhookSummary {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly status: WebhookStatus;
  readonly created_at: Date;
  /** Until then the secret before the present one signs, too. */
  readonly previous_secret_until: Date | null;
  readonly pending: number;
  readonly failed: number;
  readonly undelivered: number;
  /** Of the newest events: their attempts that have ended, and how many of these failed. */
  readonly recent_attempts: number;
  readonly recent_failures: number;
  readonly last_success_at: Date | null;
  /** Of an event whose attempt has failed; null where none waits. */
  readonly next_attempt_at: Date | null;
}

/** How many of the newest events show how a webhook does at present. */
const RECENT_EVENTS = 20;

/** A wallet's webhooks, oldest first. @param id only this one */
export async function listWebhooks(
  database: Database,
  wallet: string,
  id?: string,
): Promise<WebhookSummary[]> {
  const { rows } = await database.query<WebhookSummary>(
    `select webhook.id, url, events, webhook.status, webhook.created_at,
       case when previous_secret_until > now() then previous_secret_until end
         as previous_secret_until,
       backlog.*, recent.*, last_success_at, next_attempt_at
     from service.webhooks webhook
     cross join lateral (
       select count(*) filter (where status = 'pending')::integer as pending,
         count(*) filter (where status = 'failed')::integer as failed,
         count(*) filter (where status = 'undelivered')::integer as undelivered
       from service.webhook_deliveries
       where webhook_id = webhook.id and status <> 'delivered'
     ) backlog
     cross join lateral (
       select count(coalesce(error, duration_ms::text))::integer as recent_attempts,
         count(error)::integer as recent_failures
       from (
         select id from service.webhook_deliveries
         where webhook_id = webhook.id order by created_at desc, id desc limit $3
       ) newest
       join service.webhook_attempts on delivery_id = newest.id
     ) recent
     left join lateral (
       select delivered_at as last_success_at from service.webhook_deliveries
       where webhook_id = webhook.id and status = 'delivered'
       order by created_at desc, id desc limit 1
     ) success on true
     left join lateral (
       select due_at as next_attempt_at from service.webhook_deliveries
       where webhook_id = webhook.id and status = 'pending' and due_at < 'infinity'
         -- The first attempt, while it is made, has not failed.
         and attempts > case when taken_until is null then 0 else 1 end
       order by due_at, id limit 1
     ) next on true
     where wallet = $1 and ($2::text is null or webhook.id = $2)
     order by webhook.created_at, webhook.id`,
    [wallet, id ?? null, RECENT_EVENTS],
  );
  return rows;
}

/** @throws WebhookNotFoundError */
export async function assertWebhook(database: Database, key: WebhookKey): Promise<void> {
  const { rowCount } = await database.query(`select from service.webhooks where ${IS_KEY}`, [
    key.id,
    key.wallet,
  ]);
  if (rowCount === 0) throw notFound(key);
}

/** Sends events from now on. What was kept before can be replayed. @throws WebhookNotFoundError */
export async function enableWebhook(pool: pg.Pool, key: WebhookKey): Promise<void> {
  await setStatus(pool, key, 'active');
}

/** Sends nothing any more; events are kept as undelivered. @throws WebhookNotFoundError */
export async function disableWebhook(pool: pg.Pool, key: WebhookKey): Promise<void> {
  await inTransaction(pool, async (client) => {
    await setStatus(client, key, 'disabled');
    await markAllUndelivered(client, key.id);
  });
}

/** A webhook that may be sent something now. */
export interface Sendable {
  readonly id: string;
  readonly wallet: string;
  readonly url: string;
  readonly apiVersion: string;
}

/** Locks a webhook to which something is to be sent. @throws WebhookNotFoundError, WebhookDisabledError */
export async function lockSendable(client: Database, key: WebhookKey): Promise<Sendable> {
  const { rows } = await client.query<Sendable & { status: WebhookStatus }>(
    `select id, wallet, url, api_version as "apiVersion", status
     from service.webhooks where ${IS_KEY} for no key update`,
    [key.id, key.wallet],
  );
  const [webhook] = rows;
  if (!webhook) throw notFound(key);
  if (webhook.status === 'disabled') {
    throw new WebhookDisabledError(`The webhook ${key.id} is disabled: enable it first.`);
  }
  return webhook;
}

async function setStatus(
  database: Database,
  key: WebhookKey,
  status: WebhookStatus,
): Promise<void> {
  const { rowCount } = await database.query(
    `update service.webhooks set status = $3 where ${IS_KEY}`,
    [key.id, key.wallet, status],
  );
  if (rowCount === 0) throw notFound(key);
}
