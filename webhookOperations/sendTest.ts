import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { type Database, inTransaction } from '../common/postgres.ts';
import { API_VERSION, type EventData, type EventKind } from '../webhooks/events.ts';
import { notifyDue } from './due.ts';
import { renderEnvelope } from './envelope.ts';
import { insertListenerEvents } from './listeners.ts';
import { lockSendable, type WebhookKey } from './webhooks.ts';

/** Sent at its owner's wish, to see that a webhook works. No webhook subscribes to it. */
const TEST_EVENT = 'webhook.test';

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
    const test = createTest(TEST_EVENT, { webhook_id: key.id });
    const id = await insertTest(client, test, { id: key.id, apiVersion });
    await notifyDue(client);
    return id;
  });
}

/** Where a triggered event goes. */
interface TriggeredEvent {
  readonly eventId: string;
  readonly deliveries: readonly { webhookId: string; url: string; deliveryId: bigint }[];
  /** How many terminals listen to the wallet's events. */
  readonly listeners: number;
}

/**
 * Sends an event that did not happen to all of the wallet's webhooks that subscribe to its kind and
 * are not disabled, and to its listeners. To a webhook it goes as a test event does, once.
 *
 * @param event.data what it says: the same to all
 */
export async function triggerEvent<Kind extends EventKind>(
  pool: pg.Pool,
  wallet: string,
  event: { kind: Kind; data: EventData[Kind] },
): Promise<TriggeredEvent> {
  const test = createTest(event.kind, event.data);
  return inTransaction(pool, async (client) => {
    const { rows: webhooks } = await client.query<{ id: string; url: string; api_version: string }>(
      `select id, url, api_version from service.webhooks
       where wallet = $1 and $2 = any(events) and status <> 'disabled'
       order by id for no key update`,
      [wallet, test.event],
    );
    const deliveries: TriggeredEvent['deliveries'][number][] = [];
    for (const { id, url, api_version: apiVersion } of webhooks) {
      const deliveryId = await insertTest(client, test, { id, apiVersion });
      deliveries.push({ webhookId: id, url, deliveryId });
    }
    const { rows: listeners } = await client.query<{ session_id: string }>(
      'select session_id from service.webhook_listeners where wallet = $1 for key share skip locked',
      [wallet],
    );
    const sent = { event_id: test.id, signature: null, body: test.render(API_VERSION) };
    await insertListenerEvents(
      client,
      listeners.map((listener) => ({ ...listener, ...sent })),
      false,
    );
    await notifyDue(client);
    return { eventId: test.id, deliveries, listeners: listeners.length };
  });
}

interface TestEvent {
  readonly id: string;
  readonly event: string;
  readonly createdAt: string;
  /** The body in the form of this version. */
  readonly render: (apiVersion: string) => string;
}

function createTest(event: string, data: object): TestEvent {
  const id = `evt_${randomUUID().replaceAll('-', '')}`;
  const createdAt = new Date().toISOString();
  const render = (apiVersion: string) => renderEnvelope({ id, event, createdAt, apiVersion, data });
  return { id, event, createdAt, render };
}

/** A delivery without a transaction is a test, and so made once. @returns its id */
async function insertTest(
  database: Database,
  { id, event, createdAt, render }: TestEvent,
  webhook: { id: string; apiVersion: string },
): Promise<bigint> {
  const { rows } = await database.query<{ id: bigint }>(
    `insert into service.webhook_deliveries (webhook_id, event_id, event, created_at, body,
       status, due_at, is_requested)
     values ($1, $2, $3, $4, $5, 'pending', now(), true)
     returning id`,
    [webhook.id, id, event, createdAt, render(webhook.apiVersion)],
  );
  return rows[0]?.id as bigint;
}
