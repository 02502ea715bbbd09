import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { Registry } from 'prom-client';
import { createLogger } from '../../../common/logger.ts';
import { createDispatcher } from '../../../indexer/webhooks/deliver/dispatcher.ts';
import { measureBacklog } from '../../../indexer/webhooks/deliver/metrics.ts';
import { createShares } from '../../../indexer/webhooks/deliver/shares.ts';
import type { Webhooks } from '../../../indexer/webhooks/start.ts';
import { bought } from '../../../testing/indexer/creditEvents.ts';
import { type Receiver, startReceiver } from '../../../testing/indexer/receiver.ts';
import {
  createWebhookScene,
  type DeliveryRow,
  WALLET,
  type WebhookScene,
} from '../../../testing/indexer/webhookScene.ts';
import { samplesOf } from '../../../testing/service/requestCompletion.ts';
import { until } from '../../../testing/until.ts';

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

async function startProcess(registry?: Registry): Promise<void> {
  processes.push(await scene.start(registry));
}

async function announceAll(wallet = WALLET, events = EVENTS): Promise<void> {
  for (let available = 1; available <= events; available += 1) {
    await scene.announce([bought({ credits: 1, available, wallet })]);
  }
}

/**
 * Never answers, or late.
 *
 * @returns how many requests it had open at once at most
 */
function hang(receiver: Receiver, answerMs?: number): { openMax: number; ended: number } {
  const counts = { open: 0, openMax: 0, ended: 0 };
  receiver.answer = (response) => {
    counts.open += 1;
    counts.openMax = Math.max(counts.openMax, counts.open);
    const answer = answerMs && setTimeout(() => response.end(), answerMs);
    response.on('close', () => {
      clearTimeout(answer);
      counts.open -= 1;
      counts.ended += 1;
    });
  };
  return counts;
}

const eventIdsOf = ({ received }: Receiver) =>
  received.map(({ headers }) => headers['svc-event-id']);

describe('a receiver that never answers', () => {
  it('delays no other receiver and gets only a few requests at once', async () => {
    const hanging = await addReceiver();
    const counts = hang(hanging);
    const quick = await addReceiver();
    await announceAll();
    await startProcess();
    await until(async () => quick.received.length === EVENTS);
    // Each attempt at the hanging one is given up after 10 s: few of them are by then.
    expect(counts.openMax).toBe(AT_ONCE);
    expect(hanging.received.length).toBeLessThan(EVENTS / 5);
    expect(new Set(eventIdsOf(quick)).size).toBe(EVENTS);
  });
});

describe('wallets with only slow webhooks', () => {
  it('delay no other wallet, although none of their attempts fails', async () => {
    const wallets = Array.from({ length: 4 }, () => Keypair.generate().publicKey.toBase58());
    const slow: Receiver[] = [];
    const counts: ReturnType<typeof hang>[] = [];
    for (const wallet of wallets) {
      const receiver = await addReceiver(wallet, 16);
      counts.push(hang(receiver, 9_500));
      slow.push(receiver);
      await announceAll(wallet, 12);
    }
    const quick = await addReceiver();
    await announceAll(WALLET, 1);
    let endedBefore = -1;
    quick.answer = (response) => {
      endedBefore = counts.reduce((sum, { ended }) => sum + ended, 0);
      response.end();
    };
    await startProcess();
    await until(async () => quick.received.length === 1);
    // None of the slow ones had to make room for it.
    expect(endedBefore).toBe(0);
    // Each webhook has one attempt at a time nevertheless, and a wallet few beyond its share of 24.
    await until(async () => slow.every(({ received }) => received.length >= 16));
    for (const { openMax } of counts) expect(openMax).toBeLessThanOrEqual(38);
  });
});

describe('a wallet with many silent receivers', () => {
  it('still gets every event at its working receiver', async () => {
    const hanging = await addReceiver(WALLET, 10);
    const counts = hang(hanging);
    const quick = await addReceiver();
    await announceAll(WALLET, 20);
    await startProcess();
    await until(async () => quick.received.length === 20);
    // Of their 200 events, each attempt at which is given up after 10 s.
    expect(hanging.received.length).toBeLessThan(120);
    expect(counts.openMax).toBeLessThanOrEqual(38);
  });
});

describe('a webhook with a long backlog', () => {
  it('delays no other webhook, however quickly it answers', async () => {
    const busy = await addReceiver();
    await announceAll(WALLET, 400);
    const wallet = Keypair.generate().publicKey.toBase58();
    const other = await addReceiver(wallet);
    await announceAll(wallet, 1);
    let deliveredBefore: number | undefined;
    other.answer = (response) => {
      deliveredBefore = busy.received.length;
      response.end();
    };
    await startProcess();
    await until(async () => deliveredBefore !== undefined);
    expect(deliveredBefore).toBeLessThan(100);
  });
});

describe('the backlog metrics', () => {
  const ANNOUNCED_SECONDS = 3_600;
  const DUE_SECONDS = 600;
  /** What a slow machine may need in between. */
  const LATER_SECONDS = 60;

  async function age({ id }: DeliveryRow, announcedSeconds: number, dueAt: string): Promise<void> {
    await scene.pool.query(
      `update service.webhook_deliveries
       set stored_at = now() - $2 * interval '1 second', due_at = $3 where id = $1`,
      [id, announcedSeconds, dueAt],
    );
  }

  function expectAge(seconds: number | undefined, expected: number): void {
    expect(seconds).toBeGreaterThan(expected - 1);
    expect(seconds).toBeLessThan(expected + LATER_SECONDS);
  }

  it('show the age of the oldest delivery and how long an attempt has been due', async () => {
    const nothing = { deliveries: 0, oldestSeconds: 0, overdueSeconds: 0 };
    expect(await measureBacklog(scene.pool)).toEqual(nothing);
    const hanging = await addReceiver();
    hanging.answer = () => {};
    await announceAll(WALLET, 3);
    const [oldest, , held] = (await scene.deliveries()) as [DeliveryRow, DeliveryRow, DeliveryRow];
    const dueAt = new Date(Date.now() - DUE_SECONDS * 1_000).toISOString();
    await age(oldest, ANNOUNCED_SECONDS, dueAt);
    // It is not to be delivered before its transaction is final.
    await age(held, 2 * ANNOUNCED_SECONDS, 'infinity');
    const { deliveries, oldestSeconds, overdueSeconds } = await measureBacklog(scene.pool);
    expect(deliveries).toBe(2);
    expectAge(oldestSeconds, ANNOUNCED_SECONDS);
    expectAge(overdueSeconds, DUE_SECONDS);

    const registry = new Registry();
    await startProcess(registry);
    let samples = new Map<string, number>();
    await until(async () => {
      samples = samplesOf(await registry.metrics());
      return samples.get('svc_webhook_backlog_deliveries') === deliveries;
    });
    expectAge(samples.get('svc_webhook_backlog_oldest_seconds'), ANNOUNCED_SECONDS);
    expectAge(samples.get('svc_webhook_overdue_seconds'), DUE_SECONDS);
  });
});

describe('deliveries by two processes', () => {
  it('are each made once, soon after their announcement', async () => {
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

describe('a process that is told to end while it takes an attempt', () => {
  it('makes that one and takes no other', async () => {
    await addReceiver();
    await announceAll(WALLET, 2);
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const query = scene.pool.query.bind(scene.pool) as (...given: unknown[]) => Promise<never>;
    jest.spyOn(scene.pool, 'query').mockImplementation((async (...given: unknown[]) => {
      asked.resolve();
      await answered.promise;
      return query(...given);
    }) as typeof scene.pool.query);
    const makeAttempt = jest.fn(async () => undefined);
    const dispatcher = createDispatcher({
      pool: scene.pool,
      shares: createShares(() => performance.now()),
      makeAttempt,
      logger: createLogger({ name: 'test', level: 'silent' }),
      onFatal(error) {
        throw error;
      },
    });
    dispatcher.start();
    await asked.promise;
    const stopped = dispatcher.stop();
    answered.resolve();
    await stopped;
    expect(makeAttempt).toHaveBeenCalledTimes(1);
  });
});
