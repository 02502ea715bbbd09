import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { inTransaction } from '../../../common/postgres.ts';
import { type ClaimedAttempt, claimDue } from '../../../indexer/webhooks/deliver/claim.ts';
import { concludeDelivered, concludeFailed } from '../../../indexer/webhooks/deliver/conclude.ts';
import { bought } from '../../../testing/indexer/creditEvents.ts';
import { ownReceiver, ownWebhookScene } from '../../../testing/indexer/own.ts';
import { refuse } from '../../../testing/indexer/receiver.ts';
import type { DeliveryRow } from '../../../testing/indexer/webhookScene.ts';
import { disableWebhook } from '../../../webhookOperations/webhooks.ts';

/** From the contract: 1 at once; 2 after 30 s; 3 after 5 min; 4 after 30 min; 5 after 2 h. */
const DELAYS_SECONDS = [30, 300, 1_800, 7_200];
const TURN = { max: 9, webhookMax: 4, exceptWallets: [] };

const scene = await ownWebhookScene();
const receiver = await ownReceiver();

/** One webhook with one event that is due. */
async function announceOne(): Promise<{ webhookId: string; delivery: DeliveryRow }> {
  const webhookId = await scene.addWebhook({ url: receiver.url });
  await scene.announce([bought({ credits: 5, available: 105 })]);
  return { webhookId, delivery: await theDelivery() };
}

async function theDelivery(): Promise<DeliveryRow> {
  const rows = await scene.deliveries();
  expect(rows).toHaveLength(1);
  return rows[0] as DeliveryRow;
}

/** That the next attempt is due so long after a moment since `startedAt`, a reading of this machine. */
async function expectDueAfter(
  delivery: DeliveryRow,
  seconds: number,
  startedAt: number,
): Promise<void> {
  const dueInSeconds = await scene.dueInSeconds(delivery.id);
  expect(dueInSeconds).toBeLessThanOrEqual(seconds);
  const elapsedSeconds = (performance.now() - startedAt) / 1_000;
  // The database's clock and this one may differ a little.
  expect(dueInSeconds).toBeGreaterThan(seconds - elapsedSeconds - 0.5);
}

/** Takes what is due by the clock of one database transaction, which stands. */
async function atOneMoment(
  act: (take: { client: pg.PoolClient; due: () => Promise<ClaimedAttempt[]> }) => Promise<void>,
): Promise<void> {
  const turn = { max: 9, webhookMax: 4, exceptWallets: [] };
  await inTransaction(scene.pool, (client) => act({ client, due: () => claimDue(client, turn) }));
}

describe('a delivery', () => {
  it('records a bounded part of the answer and reads no more', async () => {
    const { delivery } = await announceOne();
    receiver.answer = (response) => {
      response.write(`first line\nnull ${String.fromCharCode(0)} bell \u0007 `);
      response.end('x'.repeat(1_000_000));
    };
    const [outcome] = await scene.attemptDue();

    expect(outcome).toMatchObject({ error: null, statusCode: 200 });
    const [attempt] = await scene.attempts(delivery.id);
    expect(attempt?.response).toMatch(/^first line\nnull {2}bell {2}x+$/);
    expect(attempt?.response?.length).toBeLessThanOrEqual(4_096);
  });

  it.each([
    ['a closed port', () => 'http://127.0.0.1:9/', 'connection_refused'],
    ['a name that leads nowhere', () => 'https://unknown.invalid/', 'name_not_resolved'],
    ['a private address in disguise', () => 'https://[::ffff:10.0.0.1]/', 'address_refused'],
    ['a port without TLS', () => receiver.url.replace('http:', 'https:'), 'tls_failed'],
  ])('fails at %s', async (_name, urlOf, error) => {
    await scene.addWebhook({ url: urlOf() });
    await scene.announce([bought({ credits: 5, available: 105 })]);
    expect(await scene.attemptDue()).toMatchObject([{ error, statusCode: null }]);
  });

  it('fails and logs an error when its secret was sealed under another key', async () => {
    const { webhookId } = await announceOne();
    await scene.pool.query(`update service.webhooks set secret = '\\x0102' where id = $1`, [
      webhookId,
    ]);
    expect(await scene.attemptDue()).toMatchObject([{ error: 'secret_unreadable' }]);
    expect(receiver.received).toEqual([]);
    expect(scene.errors).toMatchObject([{ msg: 'Failed to deliver an event' }]);
  });
});

describe('the delivery schedule', () => {
  it('waits 30 s, 5 min, 30 min and 2 h from the end of each attempt [events.schedule]', async () => {
    const { webhookId, delivery } = await announceOne();
    receiver.answer = refuse;
    for (const [index, delaySeconds] of DELAYS_SECONDS.entries()) {
      const startedAt = performance.now();
      expect(await scene.attemptDue()).toHaveLength(1);
      await expectDueAfter(delivery, delaySeconds, startedAt);
      expect(receiver.received).toHaveLength(index + 1);
      // A moment before its time nothing is taken, at its time it is.
      await atOneMoment(async (take) => {
        const moveDue = `update service.webhook_deliveries set due_at = now() + $1::interval`;
        await take.client.query(moveDue, ['1 microsecond']);
        expect(await take.due()).toEqual([]);
        await take.client.query(moveDue, ['0']);
        expect(await take.due()).toMatchObject([{ attempt: index + 2 }]);
      });
      await scene.pool.query('update service.webhook_deliveries set taken_until = null');
    }
    expect(await scene.webhookStatus(webhookId)).toBe('active');
    expect(await scene.attemptDue()).toHaveLength(1);

    expect(receiver.received).toHaveLength(5);
    const sent = receiver.received.map(({ headers }) => headers);
    expect(sent.map((headers) => headers['svc-delivery-attempt'])).toEqual([...'12345']);
    expect(new Set(sent.map((headers) => headers['svc-event-id']))).toEqual(
      new Set([delivery.event_id]),
    );
    expect(new Set(receiver.received.map(({ body }) => body))).toEqual(new Set([delivery.body]));
    expect(await theDelivery()).toMatchObject({ status: 'failed', attempts: 5, due_at: null });
    expect(await scene.attempts(delivery.id)).toHaveLength(5);
    expect(await scene.attemptDue()).toEqual([]);
  });
});

describe('an event that is announced while its webhook fails', () => {
  it('is kept for the owner and not sent', async () => {
    const { webhookId } = await announceOne();
    receiver.answer = refuse;
    await scene.pool.query('update service.webhook_deliveries set attempts = 4');
    await inTransaction(scene.pool, async (client) => {
      await scene.outbox.announce(client, [bought({ credits: 5, available: 110 })]);
      await scene.attemptDue();
    });
    expect(await scene.webhookStatus(webhookId)).toBe('failed');

    receiver.answer = (response) => void response.end();
    expect(await scene.attemptDue()).toEqual([]);
    expect(receiver.received).toHaveLength(1);
    expect(await scene.deliveries()).toMatchObject([
      { status: 'failed', attempts: 5 },
      { status: 'undelivered', attempts: 0, due_at: null },
    ]);
    expect(await scene.webhookStatus(webhookId)).toBe('failed');
  });
});

describe('an attempt', () => {
  it('is made by one of two processes that receive it', async () => {
    const { delivery } = await announceOne();
    const [job] = (await claimDue(scene.pool, TURN)) as [ClaimedAttempt];
    await scene.pool.query('update service.webhook_deliveries set taken_until = now()');
    const [again] = (await claimDue(scene.pool, TURN)) as [ClaimedAttempt];
    expect(again).toEqual(job);
    await Promise.all([scene.makeAttempt(job), scene.makeAttempt(again)]);
    expect(receiver.received).toHaveLength(1);
    expect(await scene.attempts(delivery.id)).toMatchObject([{ attempt: 1, error: null }]);
    expect(await theDelivery()).toMatchObject({ status: 'delivered', attempts: 1 });
  });

  it.each([null, 'timeout'] as const)(
    'counts once when concluded twice, after its process seemed dead: %s',
    async (error) => {
      const { delivery } = await announceOne();
      const id = { deliveryId: delivery.id, attempt: 1 };
      const result = { error, statusCode: 200, response: '', durationMs: 61_000 };
      receiver.answer = refuse;
      await scene.attemptDue();
      // Somebody is about to make the next one.
      await scene.moveDue(delivery.id, 0);
      expect(await claimDue(scene.pool, TURN)).toMatchObject([{ attempt: 2 }]);
      if (error === null) await concludeDelivered(scene.pool, [{ id, result }]);
      else {
        await inTransaction(scene.pool, (client) =>
          concludeFailed(client, { id, result, endedAt: null }),
        );
      }
      expect(await scene.attempts(delivery.id)).toMatchObject([{ error: 'bad_status' }]);
      expect(await theDelivery()).toMatchObject({ status: 'pending', attempts: 1 });
      expect(await claimDue(scene.pool, TURN)).toEqual([]);
    },
  );
});

describe('a delivery that a process took', () => {
  it.each([
    ['is not handed out again before its time is over', 59, false, []],
    ['is handed out again once the process must have died', 60, false, [2]],
    ['is handed out with the attempt that was begun, to conclude it', 60, true, [1]],
  ])('%s', async (_what, takenSeconds, isBegun, attempts) => {
    const { delivery } = await announceOne();
    await atOneMoment(async ({ client, due }) => {
      expect(await due()).toHaveLength(1);
      await client.query(
        `update service.webhook_deliveries
         set attempts = 1, taken_until = taken_until - $1 * interval '1 second'`,
        [takenSeconds],
      );
      if (isBegun) {
        await client.query(
          `insert into service.webhook_attempts (delivery_id, attempt, started_at, url)
           values ($1, 1, now() - interval '60 seconds', 'https://hooks.example.com/')`,
          [delivery.id],
        );
      }
      expect((await due()).map(({ deliveryId, attempt }) => [deliveryId, attempt])).toEqual(
        attempts.map((attempt) => [delivery.id, attempt]),
      );
    });
  });
});

describe('a webhook that its owner disables during an attempt', () => {
  it.each([
    ['arrives', 'delivered', (response: ServerResponse): void => void response.end()],
    ['fails', 'undelivered', refuse],
  ] as const)('stays disabled when that %s: the event is %s', async (_how, status, answer) => {
    const { webhookId } = await announceOne();
    receiver.answer = (response) =>
      void disableWebhook(scene.pool, { id: webhookId, wallet: null }).then(() => answer(response));
    expect(await scene.attemptDue()).toHaveLength(1);
    expect(await scene.webhookStatus(webhookId)).toBe('disabled');
    expect(await theDelivery()).toMatchObject({ status, attempts: 1, due_at: null });
    expect(await scene.attemptDue()).toEqual([]);
  });
});
