import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { createKey } from '../../api/account/keys.ts';
import { createWebhooks } from '../../api/account/webhooks.ts';
import { createSealing } from '../../common/sealing.ts';
import { API_VERSION, WEBHOOK_KINDS } from '../../webhooks/events.ts';
import { insertAccount } from './keyedDatabase.ts';
import { openServedDatabase, type ServedDatabase } from './servedDatabase.ts';

const sealing = createSealing(randomBytes(32));
const events = ['job.completed', 'credit.low'];
const url = 'https://hooks.example.com/svc';

let scene: ServedDatabase;
let pool: pg.Pool;
let key: string;
let otherKey: string;

beforeAll(async () => {
  scene = await openServedDatabase((database) => ({
    webhooks: createWebhooks({
      ...{ pool: database, sealing, allowLoopback: false },
      async resolve(name) {
        if (name === 'inside.example.com') return ['10.0.0.1'];
        if (name === 'hooks.example.com') return ['93.184.215.14'];
        throw new Error('queryA ENOTFOUND');
      },
    }),
  }));
  ({ pool, apiKey: key } = scene);
  otherKey = await createKey(pool, 'another wallet');
  await insertAccount(pool, { wallet: 'another wallet', address: 'another' });
});

beforeEach(async () => {
  await pool.query('delete from service.webhooks');
});

afterAll(() => scene?.close());

/** What the answers of these endpoints may have. */
interface Body {
  id: string;
  url: string;
  status: string;
  events: string[];
  secret?: string;
  data: Body[];
  error: { code: string; param: string | null; details?: unknown };
}

const call = (
  method: string,
  path: string,
  { body, key: own = key }: { body?: unknown; key?: string } = {},
) =>
  scene.call<Body>(path, {
    ...{ method, key: own, headers: { 'content-type': 'application/json' } },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

const create = (body: unknown, options: { key?: string } = {}) =>
  call('POST', '/v1/webhooks', { body, ...options });

const remove = (id: string | undefined) => call('DELETE', `/v1/webhooks/${id}`);

const list = (options: { key?: string } = {}) => call('GET', '/v1/webhooks', options);

async function stored(id: string) {
  const { rows } = await pool.query('select * from service.webhooks where id = $1', [id]);
  return rows[0];
}

describe('POST /v1/webhooks', () => {
  it('creates an active webhook and shows its generated secret this once [webhooks.create] [versions.api-version]', async () => {
    const { status, body } = await create({ url, events });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^wh_[0-9a-f]{32}$/),
      ...{ url, events },
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      status: 'active',
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const { secret, ...withoutSecret } = body;
    expect((await list()).body).toEqual({ object: 'list', data: [withoutSecret] });
    const row = await stored(body.id);
    expect(sealing.open(row.secret)).toBe(secret);
    expect(row).toMatchObject({ wallet: 'a wallet', api_version: API_VERSION });
  });

  it('stores the client’s own secret sealed and never shows it [webhooks.create]', async () => {
    const secret = 'a secret of my own';
    const { status, body } = await create({ url, events, secret });
    expect(status).toBe(200);
    expect(body).not.toHaveProperty('secret');
    const row = await stored(body.id);
    expect(row.secret.includes(secret)).toBe(false);
    expect(sealing.open(row.secret)).toBe(secret);
  });

  it('generates a secret where null is given', async () => {
    expect((await create({ url, events, secret: null })).body.secret).toMatch(/^whsec_/);
  });

  it('takes a url of 2,048 characters in its normal spelling, with all events', async () => {
    const longest = `https://hooks.example.com/${randomBytes(2_048).toString('hex')}`;
    const body = { url: longest.slice(0, 2_048), events: [...WEBHOOK_KINDS].reverse() };
    const { status, body: created } = await create(body);
    expect([status, created.events]).toEqual([200, WEBHOOK_KINDS]);
    for (const url of [longest.slice(0, 2_049), `https://hooks.example.com/${'é'.repeat(500)}`]) {
      const refused = await create({ ...body, url });
      expect([refused.status, refused.body.error.param]).toEqual([400, 'url']);
    }
  });

  it.each([
    ['HTTPS://Hooks.Example.COM', 'https://hooks.example.com/'],
    ['https://hooks.example.com:443/a', 'https://hooks.example.com/a'],
    ['https://hooks.example.com./a', 'https://hooks.example.com/a'],
    ['https://hooks.example.com/a#part', 'https://hooks.example.com/a'],
    ['https://ｈｏｏｋｓ.example.com/é?q=ü', 'https://hooks.example.com/%C3%A9?q=%C3%BC'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['https://0x5DB8D70E/', 'https://93.184.215.14/'],
    ['https://[2606:4700:0:0::1]:8443/', 'https://[2606:4700::1]:8443/'],
  ])('keeps %s as %s, and finds it again in both spellings', async (given, kept) => {
    const first = await create({ url: given, events });
    expect([first.status, first.body]).toMatchObject([200, { url: kept }]);
    for (const again of [given, kept]) {
      const { status, body } = await create({ url: again, events });
      expect([status, body.error.details]).toEqual([409, { webhook_id: first.body.id }]);
    }
  });

  it('is refused to a wallet without an account, before its body is read', async () => {
    const wallet = 'a new wallet';
    const newKey = await createKey(pool, wallet);
    const refused = await create([], { key: newKey });
    expect([refused.status, refused.body.error]).toMatchObject([
      403,
      { code: 'account_required', type: 'permission_error', param: null },
    ]);
    expect((await list({ key: newKey })).body.data).toEqual([]);
    expect((await call('DELETE', '/v1/webhooks/wh_1', { key: newKey })).status).toBe(404);

    await insertAccount(pool, { wallet, address: 'new' });

    expect((await create({ url, events }, { key: newKey })).status).toBe(200);
  });

  it('refuses the same url and events again and names the existing webhook [webhooks.duplicate] [errors.should-retry]', async () => {
    const first = await create({ url, events });
    const again = await create({ url, events: [...events].reverse(), secret: 'x'.repeat(16) });
    expect(again.status).toBe(409);
    expect(again.headers.get('x-should-retry')).toBe('false');
    expect(again.body.error).toMatchObject({
      code: 'duplicate_webhook',
      type: 'conflict_error',
      details: { webhook_id: first.body.id },
    });
    // Other events, another url, and another wallet are other webhooks.
    expect((await create({ url, events: ['credit.low'] })).status).toBe(200);
    expect((await create({ url: `${url}/2`, events })).status).toBe(200);
    expect((await create({ url, events }, { key: otherKey })).status).toBe(200);
  });

  it('creates one of many equal webhooks that are requested at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => create({ url, events })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)]);
  });

  it('refuses the 21st of a wallet, also of many requested at once [webhooks.duplicate]', async () => {
    const answers = await Promise.all(
      Array.from({ length: 25 }, (_, index) => create({ url: `${url}/${index}`, events })),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(5);
    for (const { status, body } of refused) {
      expect([status, body.error.code, body.error.details]).toEqual([
        400,
        'invalid_request',
        { limit: 20 },
      ]);
    }
    expect((await create({ url, events }, { key: otherKey })).status).toBe(200);
    // One deleted makes room for one.
    await remove((await list()).body.data[0]?.id);
    expect((await create({ url, events })).status).toBe(200);
  });

  // Each has two of JavaScript's units.
  const secretOf = (length: number) => '\u{1f600}'.repeat(length);
  it.each([
    ['no url', { events }, 'url'],
    ['an invalid url', { url: 'hooks.example.com', events }, 'url'],
    ['a url with a line break', { url: `${url}\n`, events }, 'url'],
    ['a url with a NUL', { url: `${url}\0`, events }, 'url'],
    ['a url with a lone surrogate', { url: `${url}\ud800`, events }, 'url'],
    ['plain HTTP', { url: 'http://hooks.example.com/', events }, 'url'],
    ['credentials', { url: 'https://me:secret@hooks.example.com/', events }, 'url'],
    ['a private address', { url: 'https://192.168.0.1/', events }, 'url'],
    ['a name that leads inside', { url: 'https://inside.example.com/', events }, 'url'],
    ['a privileged port', { url: 'https://hooks.example.com:25/', events }, 'url'],
    ['no events', { url }, 'events'],
    ['an empty list of events', { url, events: [] }, 'events'],
    ['an unknown event', { url, events: ['job.completed', 'job.done'] }, 'events[1]'],
    ['an event given twice', { url, events: ['credit.low', 'credit.low'] }, 'events[1]'],
    ['a secret too short, in characters', { url, events, secret: secretOf(15) }, 'secret'],
    ['a secret in quotes', { url, events, secret: `"${secretOf(16)}"` }, 'secret'],
    ['a secret with a line break', { url, events, secret: `${secretOf(16)}\n` }, 'secret'],
    ['a secret too long', { url, events, secret: secretOf(256) }, 'secret'],
    ['a secret with a lone surrogate', { url, events, secret: `${secretOf(16)}\ud800` }, 'secret'],
    ['a body that is no object', [], null],
  ])(
    'refuses %s and names the field [webhooks.create] [webhooks.https-only]',
    async (_what, body, param) => {
      const answer = await create(body);
      expect(answer.status).toBe(400);
      expect(answer.body.error).toMatchObject({
        code: 'invalid_request',
        type: 'invalid_request_error',
        param,
        docs: 'https://api.example.com/docs/errors#invalid_request',
      });
      expect((await list()).body.data).toEqual([]);
    },
  );

  it.each([16, 255])('accepts a secret of %d characters', async (length) => {
    expect((await create({ url, events, secret: secretOf(length) })).status).toBe(200);
  });
});

describe('GET /v1/webhooks', () => {
  it('lists the wallet’s own webhooks, newest first, with their current status [webhooks.list]', async () => {
    expect((await list()).body).toEqual({ object: 'list', data: [] });
    const ids: string[] = [];
    for (const path of ['/1', '/2', '/3']) {
      const { body } = await create({ url: `${url}${path}`, events });
      ids.unshift(body.id);
    }
    await create({ url, events }, { key: otherKey });
    await pool.query(`update service.webhooks set status = 'failed' where id = $1`, [ids[1]]);
    const { status, body } = await list();
    expect(status).toBe(200);
    expect(body.data).toMatchObject([
      { id: ids[0], status: 'active' },
      { id: ids[1], status: 'failed' },
      { id: ids[2], status: 'active' },
    ]);
    expect(body.data).toHaveLength(3);
    expect(JSON.stringify(body)).not.toContain('secret');
  });
});

describe('DELETE /v1/webhooks/{webhook_id}', () => {
  it('deletes the webhook with its pending deliveries [webhooks.delete]', async () => {
    const { id } = (await create({ url, events })).body;
    await pool.query(
      `insert into service.webhook_deliveries
         (webhook_id, event_id, event, created_at, slot, body, status, due_at)
       values ($1, 'evt_1', 'credit.low', now(), 1, '{}', 'pending', now())`,
      [id],
    );
    const { status, body } = await remove(id);
    expect([status, body]).toEqual([200, { id, object: 'webhook', deleted: true }]);
    expect((await list()).body.data).toEqual([]);
    const { rowCount } = await pool.query('select 1 from service.webhook_deliveries');
    expect(rowCount).toBe(0);
  });

  const notFound = { code: 'webhook_not_found', type: 'not_found_error', param: null };

  it('does not affect another wallet’s webhook', async () => {
    const { id } = (await create({ url, events }, { key: otherKey })).body;
    const { status, body } = await remove(id);
    expect([status, body.error]).toMatchObject([404, notFound]);
    expect((await list({ key: otherKey })).body.data).toMatchObject([{ id }]);
  });

  it('finds nothing the second time, nor for an invalid id [webhooks.delete]', async () => {
    const { id } = (await create({ url, events })).body;
    await remove(id);
    for (const gone of [id, `wh_${'0'.repeat(32)}`, 'wh_1']) {
      const { status, body } = await remove(gone);
      expect([status, body.error]).toMatchObject([404, notFound]);
    }
  });
});

describe('the webhook endpoints', () => {
  it.each([
    ['POST', '/v1/webhooks'],
    ['GET', '/v1/webhooks'],
    ['DELETE', '/v1/webhooks/wh_1'],
  ])('require a key first: %s %s [keys.bearer]', async (method, path) => {
    const { status, body } = await call(method, path, { key: `svc_live_${'x'.repeat(32)}` });
    expect([status, body.error.code]).toEqual([401, 'invalid_api_key']);
  });

  it('keep the same webhooks when the wallet’s key is regenerated [jobs.regenerated-key]', async () => {
    const { id } = (await create({ url, events })).body;
    await pool.query(`update service.api_keys set status = 'revoked', revoked_at = now()
                      where wallet = 'a wallet'`);
    key = await createKey(pool, 'a wallet');
    expect((await list()).body.data).toMatchObject([{ id }]);
  });
});
