import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { bought } from '../../../testing/indexer/creditEvents.ts';
import { type Receiver, refuse, startReceiver } from '../../../testing/indexer/receiver.ts';
import { createWebhookScene, type WebhookScene } from '../../../testing/indexer/webhookScene.ts';
import { insertAccount } from '../../api/keyedDatabase.ts';
import { type ConsoleScene, openConsoleScene, signIn } from './consoleScene.ts';

let webhooks: WebhookScene;
let scene: ConsoleScene;
let receiver: Receiver;
let wallet: string;
let id: string;

beforeAll(async () => {
  webhooks = await createWebhookScene();
  scene = await openConsoleScene({ on: webhooks });
  wallet = scene.wallet.publicKey.toBase58();
  await insertAccount(scene.pool, { wallet, address: 'one' });
  const stranger = scene.stranger.publicKey.toBase58();
  await insertAccount(scene.pool, { wallet: stranger, address: 'another' });
});

afterAll(() => scene.close());

beforeEach(async () => {
  receiver = await startReceiver();
  id = await webhooks.addWebhook({ url: receiver.url, wallet });
});

afterEach(async () => {
  await scene.pool.query('delete from service.webhooks');
  await scene.pool.query('delete from service.requested_deliveries');
  await receiver.close();
});

const call = (route: string, body?: unknown) =>
  scene.call(route, { cookie: scene.cookie, ...(body !== undefined && { body }) });

/** Announces top-ups of the wallet, each a second after the one before, and makes their attempts. */
async function announce(count: number): Promise<void> {
  for (let available = 1; available <= count; available += 1) {
    const event = bought({ credits: 1, available, wallet });
    const unixTime = `${1_790_000_000 + available}`;
    await webhooks.announce([{ ...event, data: { ...event.data, unixTime } } as typeof event]);
  }
  await webhooks.attemptDue();
}

const deliveries = async (query = '') => (await call(`GET /deliveries${query}`)).body;

const since = '2026-01-01T00:00:00Z';
const none = { pending: 0, disabled: 0, left: 0, retry_after: null };

describe('a webhook', () => {
  it('is created with a secret that is shown once, and deleted', async () => {
    const made = await call('POST /webhooks', {
      url: 'https://hooks.example.com/a',
      events: ['job.completed'],
    });

    expect(made.body).toMatchObject({ status: 'active', secret: expect.stringMatching(/^whsec_/) });
    const listed = await call('GET /webhooks');
    expect(listed.body.data).toHaveLength(2);
    expect(JSON.stringify(listed.body)).not.toContain(made.body.secret);
    const removed = await call(`DELETE /webhooks/${made.body.id}`);
    expect(removed.body).toMatchObject({ deleted: true });
  });

  it('is disabled, keeps its events, and is enabled again', async () => {
    expect((await call(`POST /webhooks/${id}/disable`)).body.status).toBe('disabled');
    await announce(1);
    expect((await call('GET /webhooks')).body.data[0]).toMatchObject({ undelivered: 1 });
    const test = await call(`POST /webhooks/${id}/test`);
    expect([test.status, test.body.error.code]).toEqual([409, 'webhook_disabled']);

    expect((await call(`POST /webhooks/${id}/enable`)).body.status).toBe('active');
  });

  it('shows how its attempts go before the fifth failure', async () => {
    const shown = async () => (await call('GET /webhooks')).body.data[0];
    const none = { last_success_at: null, next_attempt_at: null };
    expect(await shown()).toMatchObject({ recent_attempts: 0, recent_failures: 0, ...none });
    await announce(1);
    receiver.answer = refuse;
    await announce(2);
    const { last_success_at, next_attempt_at, ...rest } = await shown();
    expect(rest).toMatchObject({ status: 'active', recent_attempts: 3, recent_failures: 2 });
    expect(Date.parse(last_success_at)).toBeLessThanOrEqual(Date.now());
    expect(Date.parse(next_attempt_at)).toBeGreaterThan(Date.now());
  });

  it('is edited as it was made, and keeps its secret', async () => {
    const { body } = await call(`PATCH /webhooks/${id}`, {
      url: 'https://Hooks.example.com:443/b#c',
      events: ['job.failed'],
    });
    expect(body).toMatchObject({
      ...{ id, url: 'https://hooks.example.com/b', events: ['job.failed'], status: 'active' },
    });
    expect(body).not.toHaveProperty('secret');
  });

  it.each([
    [{}, undefined],
    [{ url: 'http://hooks.example.com/' }, 'url'],
    [{ url: 'https://10.0.0.1/' }, 'url'],
    [{ url: null }, 'url'],
    [{ events: [] }, 'events'],
    [{ events: ['job.completed', 'job.completed'] }, 'events[1]'],
  ])('refuses the edit %j', async (change, param) => {
    const { status, body } = await call(`PATCH /webhooks/${id}`, change);
    expect([status, body.error.param ?? undefined]).toEqual([400, param]);
  });

  it('refuses an edit that makes it another one’s twin, by the id of that', async () => {
    const url = 'https://hooks.example.com/twin';
    const other = await webhooks.addWebhook({ url, wallet });
    const { status, body } = await call(`PATCH /webhooks/${id}`, { url });
    expect([status, body.error.code, body.error.details]).toEqual([
      ...[409, 'duplicate_webhook', { webhook_id: other }],
    ]);
  });

  it('gets a new secret, beside which the old one signs for a day', async () => {
    const { body } = await call(`POST /webhooks/${id}/rotate`);

    expect(body.secret).toMatch(/^whsec_/);
    const hours = (Date.parse(body.previous_secret_until) - Date.now()) / 3_600_000;
    expect(Math.round(hours)).toBe(24);
    await announce(1);
    expect(receiver.received[0]?.headers).toMatchObject({
      'svc-signature': expect.stringMatching(/v1=/),
      'svc-signature-previous': expect.stringMatching(/v1=/),
    });
  });
});

describe('deliveries', () => {
  it('are listed newest first, in pages, and by each of their fields', async () => {
    const other = await webhooks.addWebhook({ url: `${receiver.url}/other`, wallet });
    await announce(2);
    receiver.answer = refuse;
    await call(`POST /webhooks/${id}/test`);
    await webhooks.attemptDue();
    const { data } = await deliveries();
    const job = `job_${'7'.repeat(32)}`;
    await scene.pool.query('update service.webhook_deliveries set job_id = $1 where id = $2', [
      ...[job, data[0].id],
    ]);

    const idsOf = async (query: string) =>
      (await deliveries(query)).data.map((one: { id: string }) => one.id);
    const all: string[] = data.map((one: { id: string }) => one.id);
    expect(all).toHaveLength(5);
    expect(all).toEqual(all.toSorted((one, next) => Number(next) - Number(one)));
    const first = await deliveries('?limit=3');
    expect([first.has_more, await idsOf(`?before=${first.next_cursor}`)]).toEqual([
      ...[true, all.slice(3)],
    ]);
    const at = (second: number) => new Date((1_790_000_000 + second) * 1_000).toISOString();
    const ofOther = data.filter((one: { webhook_id: string }) => one.webhook_id === other);
    const counts = {
      '?status=failed': 1,
      '?status=delivered,pending': 4,
      '?event=webhook.test': 1,
      [`?since=${at(2)}&until=${at(3)}`]: 2,
      [`?job_id=${job}`]: 1,
      [`?event_id=${data[1].event_id}`]: 2,
      [`?event_id=${data[1].event_id}&webhook=${other}`]: 1,
    };
    for (const [query, count] of Object.entries(counts)) {
      expect([query, (await idsOf(query)).length]).toEqual([query, count]);
    }
    expect((await deliveries(`?webhook=${other}`)).data).toEqual(ofOther);
  });

  it.each([
    'status=lost',
    'event=job',
    'since=yesterday',
    'before=-1',
    'limit=0',
    'limit=101',
    'job_id=7',
  ])('refuse the query %s by the name of its parameter', async (query) => {
    const { error } = await deliveries(`?${query}`);
    expect(error.param).toBe(query.split('=')[0]);
  });

  it('show every attempt with its status, time and answer, and the sent body', async () => {
    receiver.answer = (response) => response.writeHead(500).end('<img src=x onerror=alert(1)>');
    await announce(1);
    const [{ id: delivery }] = (await deliveries()).data;

    const { body } = await call(`GET /deliveries/${delivery}`);

    expect(body.attempts_made).toEqual([
      {
        attempt: 1,
        started_at: expect.any(String),
        duration_ms: expect.any(Number),
        url: receiver.url,
        status_code: 500,
        error: 'bad_status',
        response: '<img src=x onerror=alert(1)>',
        headers: expect.any(Object),
      },
    ]);
    const [{ headers, body: sent } = { headers: {}, body: '' }] = receiver.received;
    expect(body.body).toBe(sent);
    const shown = body.attempts_made[0].headers;
    for (const name of Object.keys(shown)) expect(shown[name]).toBe(headers[name.toLowerCase()]);
    expect(JSON.stringify(shown)).not.toMatch(/sign|timestamp/i);
  });

  it('are sent again five times, once arrived, without an end of the webhook', async () => {
    await announce(1);
    const [{ id: delivery }] = (await deliveries()).data;
    for (let time = 2; time <= 5; time += 1) {
      if (time === 5) receiver.answer = refuse;
      await call('POST /deliveries/replay', { delivery_ids: [delivery] });
      await webhooks.attemptDue();
    }

    expect((await deliveries()).data[0]).toMatchObject({ status: 'failed', attempts: 5 });
    expect(await webhooks.webhookStatus(id)).toBe('active');
  });

  it.each([
    [{}],
    [{ delivery_ids: [] }],
    [{ delivery_ids: ['1'], matching: {} }],
    [{ delivery_ids: ['one'] }],
    [{ matching: { since: 'yesterday' } }],
    [{ matching: { status: 'failed,lost' } }],
  ])('refuse the replay %j', async (body) => {
    expect((await call('POST /deliveries/replay', body)).status).toBe(400);
  });
});

describe('a webhook of another wallet', () => {
  it('is not found by any route, and neither are its deliveries', async () => {
    await announce(2);
    const [{ id: delivery }] = (await deliveries()).data;
    const own = await webhooks.addWebhook({
      url: receiver.url,
      wallet: scene.stranger.publicKey.toBase58(),
    });
    const before = await webhooks.deliveries();
    const routes: [string, unknown?][] = [
      [`DELETE /webhooks/${id}`],
      [`POST /webhooks/${id}/enable`],
      [`POST /webhooks/${id}/disable`],
      [`POST /webhooks/${id}/rotate`],
      [`POST /webhooks/${id}/test`],
      [`PATCH /webhooks/${id}`, { url: 'https://hooks.example.com/stranger' }],
      [`GET /deliveries/${delivery}`],
      ['POST /deliveries/replay', { delivery_ids: [delivery] }],
    ];

    for (const [route, body] of routes) {
      const answer = await scene.call(route, { cookie: scene.strangerCookie, body });
      expect([route, answer.status, answer.body.error.code]).toEqual([
        route,
        404,
        'webhook_not_found',
      ]);
    }
    const cookie = scene.strangerCookie;
    for (const query of ['', `?webhook=${id}`]) {
      expect((await scene.call(`GET /deliveries${query}`, { cookie })).body.data).toEqual([]);
    }
    const body = { matching: { webhook: id } };
    const replayed = await scene.call('POST /deliveries/replay', { cookie, body });
    expect(replayed.body).toEqual({ replayed: 0, ...none });
    expect(await webhooks.deliveries()).toEqual(before);
    expect(await webhooks.webhookStatus(id)).toBe('active');
    const listed = await scene.call('GET /webhooks', { cookie });
    expect(listed.body.data.map((webhook: { id: string }) => webhook.id)).toEqual([own]);
  });
});

describe('a wallet without an account on the ledger', () => {
  it('sends nothing and makes no webhook, until the mirror has its account', async () => {
    const owner = Keypair.generate();
    const address = owner.publicKey.toBase58();
    const cookie = await signIn(scene.call, owner);
    const own = await webhooks.addWebhook({ url: receiver.url, wallet: address });
    const routes: [string, unknown][] = [
      ['POST /webhooks', {}],
      [`POST /webhooks/${own}/enable`, {}],
      [`POST /webhooks/${own}/test`, {}],
      [`PATCH /webhooks/${own}`, { events: ['job.completed'] }],
      ['POST /deliveries/replay', { matching: { since } }],
      ['POST /webhooks/trigger', { event: 'job.completed' }],
    ];
    for (const [route, body] of routes) {
      const answer = await scene.call(route, { cookie, body });
      expect([route, answer.status, answer.body.error.code]).toEqual([
        ...[route, 403, 'account_required'],
      ]);
    }
    expect(await webhooks.deliveries()).toEqual([]);
    expect((await scene.call(`DELETE /webhooks/${own}`, { cookie })).status).toBe(200);

    await insertAccount(scene.pool, { wallet: address, address: 'opened' });

    const body = { url: 'https://hooks.example.com/', events: ['job.completed'] };
    expect((await scene.call('POST /webhooks', { cookie, body })).status).toBe(200);
  });
});

describe('what owners ask for', () => {
  it('is refused above its budget, with the seconds to wait', async () => {
    await scene.pool.query(
      'insert into service.requested_deliveries (whose, deliveries) values ($1, 60)',
      [`wallet ${wallet}`],
    );
    const { status, headers, body } = await call(`POST /webhooks/${id}/test`);
    expect([status, body.error.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(body.error.details).toEqual({ limit: 60, limit_of: 'wallet' });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
  });
});
