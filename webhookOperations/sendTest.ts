import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Database } from '../common/postgres.ts';
import { API_VERSION, type EventData, type EventKind, TEST_KIND } from '../webhooks/events.ts';
import { BUDGET_SECONDS, type Budget, BudgetSpentError, inBudget, spendBudget } from './budget.ts';
import { notifyDue } from './due.ts';
import { renderEnvelope } from './envelope.ts';
import { insertListenerEvents } from './listeners.ts';
import { lockSendable, type Sendable, type WebhookKey } from './webhooks.ts';

/**
 * Sends a webhook an event of a kind of its own, `webhook.test`, also without a subscription to it. It goes
 * the way of all events, but once: a test that fails changes nothing, and one that succeeds makes a
 * failed webhook active again.
 *
 * @param budget none for operators
 * @returns the delivery, to see how it goes
 * @throws WebhookNotFoundError, WebhookDisabledError, BudgetSpentError
 */
export async function sendTestEvent(
  pool: pg.Pool,
  key: WebhookKey,
  budget?: Budget,
): Promise<bigint> {
  return inBudget(pool, async (client) => {
    const webhook = await lockSendable(client, key);
    const { wallet, url } = webhook;
    await spendBudget(client, budget, { wallet, urls: [url] });
    const test = createTest(TEST_KIND, { webhook_id: key.id });
    const id = await insertTest(client, test, webhook);
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
 * Sends an event that did not happen to the wallet's listeners, and to its webhooks that subscribe
 * to the kind and are not disabled. To a webhook it goes as a test event does, once.
 *
 * @param event.data what it says: the same to all
 * @throws BudgetSpentError when it cannot go to all of them now: then it goes to none
 */
export async function triggerEvent<Kind extends EventKind>(
  pool: pg.Pool,
  wallet: string,
  event: { kind: Kind; data: EventData[Kind]; budget: Budget },
): Promise<TriggeredEvent> {
  const test = createTest(event.kind, event.data);
  return inBudget(pool, async (client) => {
    const { rows: webhooks } = await client.query<Sendable>(
      `select id, wallet, url, api_version as "apiVersion" from service.webhooks
       where wallet = $1 and $2 = any(events) and status <> 'disabled'
       order by id for no key update`,
      [wallet, test.event],
    );
    const urls = webhooks.map(({ url }) => url);
    await spendBudget(client, event.budget, { wallet, urls });
    const deliveries: TriggeredEvent['deliveries'][number][] = [];
    for (const webhook of webhooks) {
      const deliveryId = await insertTest(client, test, webhook);
      deliveries.push({ webhookId: webhook.id, url: webhook.url, deliveryId });
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
  const render = (apiVersion: string) =>
    renderEnvelope({ id, event, createdAt, apiVersion, data, isTest: true });
  return { id, event, createdAt, render };
}

/** How many of one webhook wait at most, and how many are kept that were made. */
const TESTS_PER_WEBHOOK_MAX = 100;

/**
 * A delivery without a transaction is a test, and so made once.
 *
 * @returns its id
 * @throws BudgetSpentError when too many wait: the receiver answers slower than it is tested
 */
async function insertTest(
  database: Database,
  { id, event, createdAt, render }: TestEvent,
  webhook: Sendable,
): Promise<bigint> {
  const { rows } = await database.query<{ id: bigint }>(
    `with tests as (
       select id, status from service.webhook_deliveries
       where webhook_id = $1 and signature is null
     ), forgotten as (
       select count(*) from service.delete_rows('webhook_deliveries', array(
         select ctid from service.webhook_deliveries where id in (
           select id from tests where status <> 'pending' order by id desc offset $6 - 1
         ) for update
       ))
     )
     insert into service.webhook_deliveries (webhook_id, event_id, event, created_at, body,
       status, due_at, is_requested)
     select $1, $2, $3, $4::timestamptz, $5, 'pending', now(), true from forgotten
     where (select count(*) from tests where status = 'pending') < $6
     returning id`,
    [webhook.id, id, event, createdAt, render(webhook.apiVersion), TESTS_PER_WEBHOOK_MAX],
  );
  if (rows[0]) return rows[0].id;
  throw new BudgetSpentError(
    `${TESTS_PER_WEBHOOK_MAX} tests wait for the receiver of ${webhook.id}.`,
    { limit: TESTS_PER_WEBHOOK_MAX, limitOf: 'webhook', retryAfterSeconds: BUDGET_SECONDS },
  );
}
