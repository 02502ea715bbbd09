import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { batchedIsolated } from '../../../common/database/batched.ts';
import { inTransaction } from '../../../common/postgres.ts';
import { type ClaimedAttempt, claimDue } from '../../../indexer/webhooks/deliver/claim.ts';
import {
  concludeDelivered,
  concludeFailed,
  type EndedAttempt,
} from '../../../indexer/webhooks/deliver/conclude.ts';
import { EXCHANGE_MS_MAX } from '../../../indexer/webhooks/deliver/exchange.ts';
import { bought } from '../../../testing/indexer/creditEvents.ts';
import { type Receiver, refuse, startReceiver } from '../../../testing/indexer/receiver.ts';
import {
  createWebhookScene,
  type DeliveryRow,
  SECRET,
  type WebhookScene,
} from '../../../testing/indexer/webhookScene.ts';
import { until } from '../../../testing/until.ts';
import { disableWebhook } from '../../../webhookOperations/webhooks.ts';

/** From the contract: 1 at once; 2 after 30 s; 3 after 5 min; 4 after 30 min; 5 after 2 h. */
const DELAYS_SECONDS = [30, 300, 1_800, 7_200];
const TURN = { max: 9, webhookMax: 4, exceptWallets: [] };

let scene: WebhookScene;
let receiver: Receiver;

beforeAll(async () => {
  scene = await createWebhookScene();
});

afterAll(() => scene?.close());

beforeEach(async () => {
  receiver = await startReceiver();
  scene.errors.length = 0;
});

afterEach(async () => {
  await scene.pool.query('delete from service.webhooks');
  await receiver.close();
});

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
  it('posts the stored body with a signature that the receiver can compute [events.signature]', async () => {
    const { delivery } = await announceOne();
    const beforeSeconds = Math.floor(Date.now() / 1_000);
    await scene.attemptDue();

    const [{ headers, body } = { headers: {}, body: '' }] = receiver.received;
    expect(body).toBe(delivery.body);
    expect(headers['content-type']).toBe('application/json');
    expect(headers['svc-event-id']).toBe(delivery.event_id);
    expect(headers['svc-delivery-attempt']).toBe('1');
    const [, time, digest] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(
      headers['svc-signature'] as string,
    ) as RegExpExecArray;
    expect(Number(time)).toBeGreaterThanOrEqual(beforeSeconds);
    expect(Number(time)).toBeLessThanOrEqual(Date.now() / 1_000);
    expect(digest).toBe(createHmac('sha256', SECRET).update(`${time}.${body}`).digest('hex'));
    const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
    const standard = createHmac('sha256', key)
      .update(`${delivery.event_id}.${headers['webhook-timestamp']}.${body}`)
      .digest('base64');
    expect(headers['webhook-id']).toBe(delivery.event_id);
    expect(headers['webhook-signature']).toBe(`v1,${standard}`);
    expect(await theDelivery()).toMatchObject({ status: 'delivered', attempts: 1, due_at: null });
  });

  it('carries both signatures during a rotation, then only the new one [events.rotation]', async () => {
    const { webhookId } = await announceOne();
    const rotate = `update service.webhooks set previous_secret = secret,
      previous_secret_until = now() + $2 * interval '1 hour' where id = $1`;
    await scene.pool.query(rotate, [webhookId, 1]);
    await scene.attemptDue();
    await scene.announce([bought({ credits: 5, available: 110 })]);
    await scene.pool.query(rotate, [webhookId, -1]);
    await scene.attemptDue();

    const [during, after] = receiver.received;
    expect(during?.headers['svc-signature-previous']).toBe(during?.headers['svc-signature']);
    expect(String(during?.headers['webhook-signature']).split(' ')).toHaveLength(2);
    expect(after?.headers['svc-signature-previous']).toBeUndefined();
    expect(String(after?.headers['webhook-signature']).split(' ')).toHaveLength(1);
  });

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
    ['a redirect, which is not followed', 302, 'bad_status'],
    ['a client error', 404, 'bad_status'],
    ['a server error', 500, 'bad_status'],
  ])('fails at %s', async (_name, status, error) => {
    const { delivery } = await announceOne();
    const other = await startReceiver();
    receiver.answer = (response) => {
      response.writeHead(status, { location: other.url }).end('no');
    };
    await scene.attemptDue();

    const [attempt] = await scene.attempts(delivery.id);
    expect(attempt).toMatchObject({ status_code: status, error, response: 'no' });
    expect(other.received).toEqual([]);
    expect(await theDelivery()).toMatchObject({ status: 'pending', attempts: 1 });
    await other.close();
  });

  it.each([
    ['a closed port', 'http://127.0.0.1:9/', 'connection_refused'],
    ['a name that leads nowhere', 'https://unknown.invalid/', 'name_not_resolved'],
    ['an address that is not public', 'https://10.0.0.1/', 'address_refused'],
    ['a link-local address in disguise', 'https://[::ffff:169.254.169.254]/', 'address_refused'],
  ])('fails at %s', async (_name, url, error) => {
    await scene.addWebhook({ url });
    await scene.announce([bought({ credits: 5, available: 105 })]);
    expect(await scene.attemptDue()).toMatchObject([{ error, statusCode: null }]);
  });

  it('fails at a port that does not speak TLS', async () => {
    await scene.addWebhook({ url: receiver.url.replace('http:', 'https:') });
    await scene.announce([bought({ credits: 5, available: 105 })]);
    expect(await scene.attemptDue()).toMatchObject([{ error: 'tls_failed', statusCode: null }]);
  });

  it('fails when the connection breaks or the answer is not HTTP [events.ten-seconds]', async () => {
    await announceOne();
    receiver.answer = (response) => void response.socket?.destroy();
    expect(await scene.attemptDue()).toMatchObject([{ error: 'connection_lost' }]);
    const { id } = await theDelivery();
    receiver.answer = (response) => void response.socket?.end('I am no web server\r\n\r\n');
    await scene.moveDue(id, 0);
    expect(await scene.attemptDue()).toMatchObject([{ error: 'bad_response' }]);
  });

  it('fails after ten seconds, whether the receiver is silent or slow [events.ten-seconds]', async () => {
    expect(EXCHANGE_MS_MAX).toBe(10_000);
    const exchangeMs = EXCHANGE_MS_MAX / 50;
    await announceOne();
    await scene.announce([bought({ credits: 5, available: 110 })]);
    receiver.answer = (response, { body }) => {
      // As a number: an id may have these digits, too.
      if (/\b110\b/.test(body)) return;
      const { socket } = response;
      socket?.write('HTTP/1.1 200 OK\r\nx-slow: ');
      const drip = setInterval(() => socket?.write('.'), exchangeMs / 20);
      socket?.on('close', () => clearInterval(drip));
    };
    const webhooks = await scene.start({ exchangeMs });
    await until(async () => {
      const { rows } = await scene.pool.query(
        'select count(error)::integer as ended from service.webhook_attempts',
      );
      return rows[0]?.ended === 2;
    });
    await webhooks.stop();
    const { rows } = await scene.pool.query(
      'select status_code, error, duration_ms from service.webhook_attempts order by delivery_id',
    );
    expect(rows).toMatchObject([
      { status_code: null, error: 'timeout' },
      { status_code: null, error: 'timeout' },
    ]);
    for (const { duration_ms } of rows) expect(duration_ms).toBeGreaterThanOrEqual(exchangeMs - 5);
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

  it('logs no error when its receiver refuses it', async () => {
    await announceOne();
    receiver.answer = refuse;
    expect(await scene.attemptDue()).toHaveLength(1);
    expect(scene.errors).toEqual([]);
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

  it('fails the webhook after the fifth attempt and keeps later events [events.failed]', async () => {
    const { webhookId, delivery } = await announceOne();
    await scene.announce([bought({ credits: 5, available: 110 })]);
    receiver.answer = refuse;
    await scene.attemptDue();
    for (let attempt = 2; attempt <= 5; attempt += 1) {
      await scene.moveDue(delivery.id, 0);
      await scene.attemptDue();
    }
    await scene.announce([bought({ credits: 5, available: 115 })]);

    expect(await scene.webhookStatus(webhookId)).toBe('failed');
    const deliveries = await scene.deliveries();
    expect(deliveries.map(({ status, attempts }) => [status, attempts])).toEqual([
      ['failed', 5],
      ['undelivered', 1],
      ['undelivered', 0],
    ]);
    expect(await scene.attemptDue()).toEqual([]);
  });
});

describe('a failed webhook', () => {
  it('receives what its owner replays, even if another such event fails before', async () => {
    await announceOne();
    await scene.announce([bought({ credits: 5, available: 110 })]);
    const [first] = (await scene.deliveries()).map(({ id }) => id);
    await scene.pool.query(`update service.webhooks set status = 'failed'`);
    await scene.pool.query('update service.webhook_deliveries set attempts = 4 where id = $1', [
      first,
    ]);
    await scene.pool.query('update service.webhook_deliveries set is_requested = true');
    receiver.answer = (response, { headers }) =>
      headers['svc-delivery-attempt'] === '5' ? refuse(response) : void response.end();
    expect(await scene.attemptDue()).toHaveLength(2);
    expect(await scene.deliveries()).toMatchObject([{ status: 'failed' }, { status: 'delivered' }]);
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

describe('several events', () => {
  it('are attempted in the order of their announcement', async () => {
    await scene.addWebhook({ url: receiver.url });
    for (let available = 1; available <= 20; available += 1) {
      await scene.announce([bought({ credits: 1, available })]);
    }
    await scene.attemptDue();
    const balances = receiver.received.map(({ body }) => JSON.parse(body).data.credits_remaining);
    expect(balances).toEqual(Array.from({ length: 20 }, (_value, index) => index + 1));
  });
});

describe('an attempt', () => {
  it.each([
    ['an active webhook', 'active', false],
    ['a failed one that its owner replays', 'failed', true],
  ])(
    'waits to %s while another attempt of the same event runs',
    async (_whose, status, isRequested) => {
      const { delivery } = await announceOne();
      await scene.pool.query('update service.webhooks set status = $1', [status]);
      await scene.pool.query(
        `update service.webhook_deliveries set attempts = 1, is_requested = $1,
           taken_until = now() + interval '1 minute'`,
        [isRequested],
      );
      await scene.pool.query(
        'insert into service.webhook_attempts (delivery_id, attempt) values ($1, 1)',
        [delivery.id],
      );
      await scene.attemptDue();
      expect(receiver.received).toEqual([]);
      expect(await theDelivery()).toMatchObject({ status: 'pending', attempts: 1 });
    },
  );

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

  it('counts when its process died, and the next is due 30 s after its timeout', async () => {
    const { delivery } = await announceOne();
    await scene.pool.query('update service.webhook_deliveries set attempts = 1');
    await scene.moveDue(delivery.id, -25);
    const startedAt = performance.now();
    await scene.pool.query(
      `insert into service.webhook_attempts (delivery_id, attempt, started_at)
       values ($1, 1, now() - interval '25 seconds')`,
      [delivery.id],
    );
    expect(await scene.attemptDue()).toMatchObject([{ error: 'interrupted' }]);
    expect(receiver.received).toEqual([]);
    await expectDueAfter(delivery, 15, startedAt);
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

  it('is concluded although another in its statement cannot be written', async () => {
    const { webhookId } = await announceOne();
    await scene.announce([bought({ credits: 5, available: 110 })]);
    await scene.pool.query('update service.webhook_deliveries set attempts = 1');
    await scene.pool.query(
      'insert into service.webhook_attempts select id, 1 from service.webhook_deliveries',
    );
    await scene.pool.query(`update service.webhooks set status = 'failed'`);
    const [sound, broken] = await scene.deliveries();
    const conclude = batchedIsolated((ended: readonly EndedAttempt[]) =>
      concludeDelivered(scene.pool, ended),
    );
    const end = (delivery: DeliveryRow | undefined, response: string) =>
      conclude({
        id: { deliveryId: delivery?.id ?? 0n, attempt: 1 },
        result: { error: null, statusCode: 200, response, durationMs: 5 },
      });
    // No text of the database holds NUL.
    const ends = await Promise.allSettled([end(sound, 'fine'), end(broken, '\0')]);
    expect(ends).toMatchObject([{ status: 'fulfilled' }, { reason: { code: '22021' } }]);
    const statuses = (await scene.deliveries()).map(({ status }) => status);
    expect(statuses).toEqual(['delivered', 'pending']);
    expect(await scene.webhookStatus(webhookId)).toBe('active');
  });
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
          `insert into service.webhook_attempts (delivery_id, attempt, started_at)
           values ($1, 1, now() - interval '60 seconds')`,
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

describe('between two attempts', () => {
  it.each([
    ['deleted', 'delete from service.webhooks where id = $1'],
    ['disabled', `update service.webhooks set status = 'disabled' where id = $1`],
  ])('a webhook that is %s receives nothing more', async (_name, statement) => {
    const { webhookId, delivery } = await announceOne();
    receiver.answer = refuse;
    await scene.attemptDue();
    await scene.moveDue(delivery.id, 0);
    await scene.pool.query(statement, [webhookId]);
    expect(await scene.attemptDue()).toEqual([]);
    expect(receiver.received).toHaveLength(1);
    const left = await scene.deliveries();
    expect(left.map(({ status }) => status)).not.toContain('pending');
  });
});
