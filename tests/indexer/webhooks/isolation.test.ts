import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createLogger } from '../../../common/logger.ts';
import { inTransaction } from '../../../common/postgres.ts';
import { createDeliveryLimits } from '../../../indexer/webhooks/deliver/deliveryLimits.ts';
import { createDispatcher } from '../../../indexer/webhooks/deliver/dispatcher.ts';
import { measureBacklog } from '../../../indexer/webhooks/deliver/metrics.ts';
import { bought } from '../../../testing/indexer/creditEvents.ts';
import { ownWebhookScene } from '../../../testing/indexer/own.ts';
import { type Receiver, startReceiver } from '../../../testing/indexer/receiver.ts';
import { type DeliveryRow, WALLET } from '../../../testing/indexer/webhookScene.ts';
import { until } from '../../../testing/until.ts';

const EVENTS = 100;
/** At the same time to one webhook. */
const AT_ONCE = 4;

const scene = await ownWebhookScene();
const receivers: Receiver[] = [];
const processes: { stop(): Promise<void> }[] = [];

afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.close();
  for (const { stop } of processes.splice(0)) await stop();
});

async function addReceiver(wallet = WALLET, webhooks = 1): Promise<Receiver> {
  const receiver = await startReceiver();
  receivers.push(receiver);
  for (let index = 0; index < webhooks; index += 1) {
    await scene.addWebhook({ url: `${receiver.url}/${index}`, wallet });
  }
  return receiver;
}

/** No receiver is given up before its test is over. */
const EXCHANGE_MS = 3_600_000;

async function startProcess(): Promise<void> {
  processes.push(await scene.start({ exchangeMs: EXCHANGE_MS }));
}

async function announceAll(wallet = WALLET, events = EVENTS): Promise<void> {
  for (let available = 1; available <= events; available += 1) {
    await scene.announce([bought({ credits: 1, available, wallet })]);
  }
}

const eventIdsOf = ({ received }: Receiver) =>
  received.map(({ headers }) => headers['svc-event-id']);

describe('a receiver that never answers', () => {
  it('delays no other receiver and gets only a few requests at once', async () => {
    const hanging = await addReceiver();
    hanging.answer = () => {};
    const quick = await addReceiver();
    await announceAll();
    await startProcess();
    await until(async () => quick.received.length === EVENTS);
    expect(hanging.received).toHaveLength(AT_ONCE);
    expect(new Set(eventIdsOf(quick)).size).toBe(EVENTS);
  });
});

describe('wallets with only slow webhooks', () => {
  it('delay no other wallet, although none of their attempts fails', async () => {
    const wallets = Array.from({ length: 4 }, () => Keypair.generate().publicKey.toBase58());
    const slow: Receiver[] = [];
    for (const wallet of wallets) {
      const receiver = await addReceiver(wallet, 16);
      receiver.answer = () => {};
      slow.push(receiver);
      await announceAll(wallet, 12);
    }
    const quick = await addReceiver();
    await announceAll(WALLET, 1);
    await startProcess();
    await until(async () => quick.received.length === 1);
    // Each webhook has one attempt at a time nevertheless, and a wallet few beyond its share of 24.
    await until(async () => slow.every(({ received }) => received.length >= 16));
    for (const { received } of slow) expect(received.length).toBeLessThanOrEqual(38);
  });
});

describe('a wallet with many silent receivers', () => {
  it('still gets every event at its working receiver', async () => {
    const hanging = await addReceiver(WALLET, 10);
    hanging.answer = () => {};
    const quick = await addReceiver();
    await announceAll(WALLET, 20);
    await startProcess();
    await until(async () => quick.received.length === 20);
    expect(hanging.received.length).toBeLessThanOrEqual(38);
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
  const age = `
    update service.webhook_deliveries set stored_at = now() - $2 * interval '1 second',
      due_at = case when $3 then now() - $4 * interval '1 second' else 'infinity' end
    where id = $1`;

  it('show the age of the oldest delivery and how long an attempt has been due', async () => {
    const nothing = { deliveries: 0, oldestSeconds: 0, overdueSeconds: 0 };
    expect(await measureBacklog(scene.pool)).toEqual(nothing);
    await addReceiver();
    await announceAll(WALLET, 3);
    const [oldest, , held] = (await scene.deliveries()) as [DeliveryRow, DeliveryRow, DeliveryRow];
    // In one transaction the database's clock stands.
    await inTransaction(scene.pool, async (client) => {
      await client.query(age, [oldest.id, ANNOUNCED_SECONDS, true, DUE_SECONDS]);
      // It is not to be delivered before its transaction is final.
      await client.query(age, [held.id, 2 * ANNOUNCED_SECONDS, false, DUE_SECONDS]);
      expect(await measureBacklog(client)).toEqual({
        deliveries: 2,
        oldestSeconds: ANNOUNCED_SECONDS,
        overdueSeconds: DUE_SECONDS,
      });
    });
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

describe('a process that is stopped while it takes an attempt', () => {
  it('makes that one and takes no other', async () => {
    await addReceiver();
    await announceAll(WALLET, 2);
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const query = scene.pool.query.bind(scene.pool) as (...given: unknown[]) => Promise<never>;
    const held = jest.spyOn(scene.pool, 'query').mockImplementation((async (
      ...given: unknown[]
    ) => {
      asked.resolve();
      await answered.promise;
      return query(...given);
    }) as typeof scene.pool.query);
    const makeAttempt = jest.fn(async () => undefined);
    const dispatcher = createDispatcher({
      pool: scene.pool,
      limits: createDeliveryLimits(() => performance.now()),
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
    held.mockRestore();
    expect(makeAttempt).toHaveBeenCalledTimes(1);
  });
});

describe('a webhook that is disabled or rotated', () => {
  it('receives what is announced at the same time, as usual', async () => {
    const id = await scene.addWebhook({ url: 'https://example.com/changing' });
    await inTransaction(scene.pool, async (changing) => {
      const [select, update] = [
        'select from service.webhooks where id = $1 for no key update',
        `update service.webhooks set status = 'disabled', previous_secret = secret,
           previous_secret_until = now() where id = $1`,
      ];
      for (const statement of [select, update]) await changing.query(statement, [id]);
      await inTransaction(scene.pool, async (client) => {
        await client.query(`set local lock_timeout = '500ms'`);
        await scene.outbox.announce(client, [bought({ credits: 5, available: 105 })]);
      });
    });
    expect((await scene.deliveries()).map(({ webhook_id }) => webhook_id)).toEqual([id]);
  });
});
