import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createKey } from '../../api/account/keys.ts';
import { suspendWallet } from '../../api/account/suspensions.ts';
import { createBurstLimit } from '../../api/http/middleware/authentication.ts';
import { createRequestIdentification } from '../../api/routes/completions.ts';
import { insertAccount } from './keyedDatabase.ts';
import { openServedDatabase, type ServedDatabase } from './servedDatabase.ts';

const REFUSED_KEYS = 50;
let nowMs = 0;
let scene: ServedDatabase;
let suspended: string;
let foreign: string;

beforeAll(async () => {
  const limit = (burst: number, refillPerSecond: number) =>
    createBurstLimit({ burst, refillPerSecond, nowMs: () => nowMs });
  scene = await openServedDatabase(() => ({
    identify: createRequestIdentification(randomBytes(32)),
    gateway: 'this one',
    bursts: limit(2 * REFUSED_KEYS, 1),
    refusals: limit(REFUSED_KEYS, 5),
    trustedProxyHops: 1,
  }));
  const { pool } = scene;
  await pool.query("update mirror.credit_accounts set spender = 'this one'");
  suspended = await createKey(pool, 'a suspended wallet');
  await suspendWallet(pool, 'a suspended wallet');
  foreign = await createKey(pool, "another service's wallet");
  const account = { wallet: "another service's wallet", address: 'another' };
  await insertAccount(pool, { ...account, spender: 'another' });
});

afterAll(() => scene?.close());

/** From an address of its own choice, as a proxy forwards it. */
async function ask(from: string, path: string, sent: { key?: string; body?: string } = {}) {
  const headers = { 'x-forwarded-for': from };
  const {
    status,
    headers: received,
    body,
  } = await scene.call<{ error?: { code: string } }>(path, {
    key: null,
    ...sent,
    headers,
  });
  return { status, ...body.error, retryAfter: received.get('retry-after') };
}

const unknownKey = `svc_live_${'x'.repeat(32)}`;

describe('a request with several faults gets the error of the first', () => {
  const route = '/v1/chat/completions';
  const body = '{"model":';

  it('its address exceeds its limit, before its path is unknown [errors.order-of-checks]', async () => {
    const asked = Array.from({ length: 2 * REFUSED_KEYS }, () => ask('192.0.2.1', '/v1/nothing'));
    expect((await Promise.all(asked)).map(({ status }) => status)).not.toContain(429);
    expect(await ask('192.0.2.1', '/v1/nothing', { key: unknownKey, body })).toMatchObject({
      status: 429,
      code: 'rate_limit_exceeded',
      retryAfter: '1',
    });
  });

  it.each([
    ['its path is unknown, before its key is', '/v1/nothing', () => unknownKey, 'route_not_found'],
    ['its method is unknown, before its key is', '/v1/models', () => unknownKey, 'route_not_found'],
    ['its key is missing, before its body is wrong', route, () => undefined, 'missing_api_key'],
    ['its key is unknown, before its body is wrong', route, () => unknownKey, 'invalid_api_key'],
    ['its key is suspended, before its body is wrong', route, () => suspended, 'key_suspended'],
    ['its spender is another, before its body is wrong', route, () => foreign, 'spender_not_set'],
    ['its body is wrong', route, () => scene.apiKey, 'invalid_request'],
  ])('%s [errors.order-of-checks]', async (_case, path, keyOf, code) => {
    const key = keyOf();
    expect(await ask('192.0.2.2', path, { body, ...(key && { key }) })).toMatchObject({ code });
  });

  describe.each(['%zz', '%', '%ff', '%00', 'a%00b'])('with the path segment %s', (part) => {
    const models = `/v1/models/${part}`;
    it.each([
      ['it names no route', `/v1/nothing/${part}`, () => scene.apiKey, 404, 'route_not_found'],
      ['it names more than a route', `${models}/x`, () => undefined, 404, 'route_not_found'],
      ['its key is missing', models, () => undefined, 401, 'missing_api_key'],
      ['its key is unknown', models, () => unknownKey, 401, 'invalid_api_key'],
      ['its key is suspended', models, () => suspended, 403, 'key_suspended'],
      ['it cannot be read', `${models}?a=b`, () => scene.apiKey, 400, 'invalid_request'],
      ['it cannot be read', `/v1/jobs/${part}`, () => scene.apiKey, 400, 'invalid_request'],
    ])('and %s', async (_case, path, keyOf, status, code) => {
      const key = keyOf();
      const answer = await ask('192.0.2.6', path, { ...(key && { key }) });
      expect(answer).toMatchObject({ status, code });
    });

    it('and its method is unknown', async () => {
      const answer = await ask('192.0.2.6', models, { body, key: scene.apiKey });
      expect(answer).toMatchObject({ status: 404, code: 'route_not_found' });
    });
  });
});

describe('an address that tries unknown keys', () => {
  it('is limited after 50, while other addresses are not [limits.refused-keys]', async () => {
    // All at once: what is looked up at the same time must not get past the limit together.
    const guesses = await Promise.all(
      Array.from({ length: REFUSED_KEYS + 20 }, () =>
        ask('192.0.2.3', '/v1/jobs', { key: unknownKey }),
      ),
    );
    expect(guesses.map(({ status }) => status).sort()).toEqual([
      ...Array(REFUSED_KEYS).fill(401),
      ...Array(20).fill(429),
    ]);
    const waiting = { status: 429, code: 'rate_limit_exceeded', retryAfter: '1' };
    expect(await ask('192.0.2.3', '/v1/jobs', { key: unknownKey })).toMatchObject(waiting);
    expect(await ask('192.0.2.3', '/v1/jobs')).toMatchObject(waiting);
    expect(await ask('192.0.2.3', '/v1/jobs', { key: suspended })).toMatchObject(waiting);

    const { apiKey: key } = scene;
    // A live key is admitted from there, too: behind a proxy it may be anybody's address, and one
    // bad client would lock out all others. What has 190 bits is not found by asking anyway.
    expect(await ask('192.0.2.3', '/v1/jobs', { key })).toMatchObject({ status: 200 });
    expect(await ask('192.0.2.4', '/v1/jobs', { key })).toMatchObject({ status: 200 });
    expect(await ask('192.0.2.3', '/v1/nothing')).toMatchObject({ status: 404 });
  });

  it('may then try five keys a second [limits.refused-keys]', async () => {
    nowMs += 1_000;
    const again = [];
    for (let guess = 0; guess < 6; guess += 1) {
      again.push((await ask('192.0.2.3', '/v1/jobs', { key: unknownKey })).status);
    }
    expect(again).toEqual([401, 401, 401, 401, 401, 429]);
  });
});
