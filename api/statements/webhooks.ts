import type { Database } from '../../runtime/postgres.ts';
import type { EventKind } from '../../webhooks/eventKinds.ts';

/** A webhook as its owner may see it; its secret is never read here. */
export interface WebhookRow {
  id: string;
  url: string;
  events: EventKind[];
  status: 'active' | 'failed' | 'disabled';
  created_at: Date;
}

const columns = 'id, url, events, status, created_at';

/** Newest first. */
export async function selectWebhooks(database: Database, wallet: string): Promise<WebhookRow[]> {
  const { rows } = await database.query<WebhookRow>(
    `select ${columns} from service.webhooks where wallet = $1 order by created_at desc, id`,
    [wallet],
  );
  return rows;
}

/** Until the transaction ends, nobody else changes which webhooks the wallet has. */
export async function lockWebhooks(database: Database, wallet: string): Promise<void> {
  await database.query(`select pg_advisory_xact_lock(hashtextextended('webhooks ' || $1, 0))`, [
    wallet,
  ]);
}

/** @param webhook.events sorted */
export async function insertWebhook(
  database: Database,
  webhook: {
    id: string;
    wallet: string;
    url: string;
    events: EventKind[];
    apiVersion: string;
    sealedSecret: Uint8Array;
  },
): Promise<WebhookRow> {
  const { rows } = await database.query<WebhookRow>(
    `insert into service.webhooks (id, wallet, url, events, api_version, secret)
     values ($1, $2, $3, $4, $5, $6) returning ${columns}`,
    [
      webhook.id,
      webhook.wallet,
      webhook.url,
      webhook.events,
      webhook.apiVersion,
      webhook.sealedSecret,
    ],
  );
  return rows[0] as WebhookRow;
}

/** Deliveries of a webhook that are deleted in one statement, so that none takes long. */
const DELIVERIES_AT_ONCE = 1_000;

/**
 * Sends nothing to a webhook any more. Until the transaction ends, nobody else changes how its
 * deliveries go; announcing does not wait for that.
 *
 * @returns whether the wallet has this webhook
 */
export async function disableWebhook(
  database: Database,
  key: { wallet: string; id: string },
): Promise<boolean> {
  const { rowCount } = await database.query(
    `update service.webhooks set status = 'disabled' where wallet = $1 and id = $2`,
    [key.wallet, key.id],
  );
  return rowCount === 1;
}

/**
 * Deletes some of a webhook's deliveries with their attempts, all but those that somebody is busy
 * with.
 *
 * @returns whether there may be more
 */
export async function deleteDeliveries(database: Database, webhookId: string): Promise<boolean> {
  const { rowCount } = await database.query(
    `delete from service.webhook_deliveries where id in (
       select id from service.webhook_deliveries
       where webhook_id = $1 order by id limit $2
       for update skip locked
     )`,
    [webhookId, DELIVERIES_AT_ONCE],
  );
  return rowCount === DELIVERIES_AT_ONCE;
}

/** @returns whether the wallet had this webhook; what deliveries it has left go with it */
export async function deleteWebhook(
  database: Database,
  key: { wallet: string; id: string },
): Promise<boolean> {
  const { rowCount } = await database.query(
    'delete from service.webhooks where wallet = $1 and id = $2',
    [key.wallet, key.id],
  );
  return rowCount === 1;
}
