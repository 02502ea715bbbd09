import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../until.ts';
import { bought } from './creditEvents.ts';
import { type Receiver, refuse, startReceiver } from './receiver.ts';
import { createWebhookScene, type WebhookScene } from './webhookScene.ts';

const EVENTS = 100;
/** At the same time to one webhook. */
const AT_ONCE = 4;

let scene: WebhookScene;
const receivers: Receiver[] = [];

beforeAll(async () => {
  scene = await createWebhookScene();
});

afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.close();
  await scene.pool.query('delete from service.webhooks');
});

afterAll(() => scene?.close());

async function addReceiver(): Promise<Receiver> {
  const receiver = await startReceiver();
  receivers.push(receiver);
  await scene.addWebhook({ url: receiver.url });
  return receiver;
}

async function announceAll(): Promise<void> {
  for (let available = 1; available <= EVENTS; available += 1) {
    await scene.announce([bought({ credits: 1, available })]);
  }
}

const eventIdsOf = ({ received }: Receiver) =>
  received.map(({ headers }) => headers['svc-event-id']);

describe('a receiver that never answers', () => {
  it('holds up nobody else, and is asked a few times at once at most', async () => {
    const hanging = await addReceiver();
    hanging.answer = () => {};
    const quick = await addReceiver();
    await announceAll();
    const startedAtMs = performance.now();
    await scene.start();
    await until(async () => quick.received.length === EVENTS);
    // The hanging one's first attempts are not even given up by then.
    expect(performance.now() - startedAtMs).toBeLessThan(9_000);
    expect(hanging.received).toHaveLength(AT_ONCE);
    expect(new Set(eventIdsOf(quick)).size).toBe(EVENTS);
  });
});

describe('deliveries made by two processes', () => {
  it('are each made once, and soon after they are announced', async () => {
    const receiver = await addReceiver();
    await scene.start();
    await scene.start();
    await announceAll();
    await until(async () => {
      const { rows } = await scene.pool.query(
        `select count(*)::integer from service.webhook_deliveries where status = 'delivered'`,
      );
      return rows[0]?.count === EVENTS;
    });
    expect(new Set(eventIdsOf(receiver)).size).toBe(EVENTS);
    expect(receiver.received).toHaveLength(EVENTS);
  });
});

describe('what the queue has lost', () => {
  it('is queued again once it is overdue, and nothing else is', async () => {
    const receiver = await addReceiver();
    receiver.answer = refuse;
    await scene.announce([bought({ credits: 1, available: 1 })]);
    await until(async () => receiver.received.length === 1);
    const { id } = (await scene.deliveries())[0] as { id: bigint };
    await until(async () => (await scene.dueInSeconds(id)) > 25);
    receiver.answer = (response) => void response.end();
    await scene.pool.query(`delete from pgboss.job where name = 'webhook-attempts'`);
    await scene.pool.query(
      `update service.webhook_deliveries set due_at = now() - interval '61 seconds'`,
    );
    await until(async () => receiver.received.length === 2);
    expect(receiver.received[1]?.headers['svc-delivery-attempt']).toBe('2');
  });
});
