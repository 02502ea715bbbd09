import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import type { Webhooks } from '../../../indexer/webhooks/startWebhooks.ts';
import { until } from '../until.ts';
import { bought } from './creditEvents.ts';
import { type Receiver, refuse, startReceiver } from './receiver.ts';
import { createWebhookScene, WALLET, type WebhookScene } from './webhookScene.ts';

const EVENTS = 100;
/** At the same time to one webhook. */
const AT_ONCE = 4;

let scene: WebhookScene;
const receivers: Receiver[] = [];
const processes: Webhooks[] = [];

beforeAll(async () => {
  scene = await createWebhookScene();
});

afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.close();
  for (const { stop } of processes.splice(0)) await stop();
  await scene.pool.query('delete from service.webhooks');
});

afterAll(() => scene?.close());

async function addReceiver(wallet = WALLET, webhooks = 1): Promise<Receiver> {
  const receiver = await startReceiver();
  receivers.push(receiver);
  for (let index = 0; index < webhooks; index += 1) {
    await scene.addWebhook({ url: `${receiver.url}/${index}`, wallet });
  }
  return receiver;
}

async function startProcess(): Promise<void> {
  processes.push(await scene.start());
}

async function announceAll(wallet = WALLET, events = EVENTS): Promise<void> {
  for (let available = 1; available <= events; available += 1) {
    await scene.announce([bought({ credits: 1, available, wallet })]);
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
    await startProcess();
    await until(async () => quick.received.length === EVENTS);
    // The hanging one's first attempts are not even given up by then.
    expect(performance.now() - startedAtMs).toBeLessThan(9_000);
    expect(hanging.received).toHaveLength(AT_ONCE);
    expect(new Set(eventIdsOf(quick)).size).toBe(EVENTS);
  });
});

describe('wallets whose webhooks are all slow', () => {
  it('delay no other wallet, though none of their attempts ever fails', async () => {
    const wallets = Array.from({ length: 4 }, () => Keypair.generate().publicKey.toBase58());
    const slow: Receiver[] = [];
    for (const wallet of wallets) {
      const receiver = await addReceiver(wallet, 16);
      receiver.answer = (response) => {
        const answer = setTimeout(() => response.end(), 9_500);
        response.on('close', () => clearTimeout(answer));
      };
      slow.push(receiver);
      await announceAll(wallet, 12);
    }
    const quick = await addReceiver();
    await announceAll(WALLET, 1);
    const startedAtMs = performance.now();
    await startProcess();
    await until(async () => quick.received.length === 1);
    expect(performance.now() - startedAtMs).toBeLessThan(5_000);
    // Each webhook has one attempt at a time nevertheless, and a wallet few beyond its share of 24.
    await until(async () => slow.every(({ received }) => received.length >= 16));
    for (const { received } of slow) expect(received.length).toBeLessThanOrEqual(38);
  });
});

describe('a wallet with many receivers that never answer', () => {
  it('is told by its other one of every event nevertheless', async () => {
    const hanging = await addReceiver(WALLET, 10);
    hanging.answer = () => {};
    const quick = await addReceiver();
    await announceAll(WALLET, 20);
    const startedAtMs = performance.now();
    await startProcess();
    await until(async () => quick.received.length === 20);
    expect(performance.now() - startedAtMs).toBeLessThan(9_000);
    expect(hanging.received.length).toBeLessThanOrEqual(38);
  });
});

describe('a webhook with a long backlog', () => {
  it('delays no other one, however quickly it answers', async () => {
    const busy = await addReceiver();
    await announceAll(WALLET, 400);
    const wallet = Keypair.generate().publicKey.toBase58();
    const other = await addReceiver(wallet);
    await announceAll(wallet, 1);
    await startProcess();
    await until(async () => other.received.length === 1);
    expect(busy.received.length).toBeLessThan(100);
  });
});

describe('deliveries made by two processes', () => {
  it('are each made once, and soon after they are announced', async () => {
    const receiver = await addReceiver();
    await startProcess();
    await startProcess();
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
    await startProcess();
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
