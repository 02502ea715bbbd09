import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { WebhookRow } from '../../api/sql/accounts.ts';
import { insertAccount, type KeyedDatabase, openKeyedDatabase } from './keyedDatabase.ts';
import { type ServedApp, serveApp } from './serveApp.ts';

let database: KeyedDatabase;
let app: ServedApp;

beforeAll(async () => {
  database = await openKeyedDatabase();
  await insertAccount(database.pool, { wallet: 'a wallet' });
  const webhook: WebhookRow = {
    id: `wh_${'0'.repeat(32)}`,
    url: 'https://example.com',
    events: ['job.completed'],
    status: 'active',
    created_at: new Date(0),
  };
  app = await serveApp({
    database: database.pool,
    nowSeconds: () => 0n,
    webhooks: {
      create: async () => ({ webhook, madeSecret: 'a secret' }),
      edit: async () => undefined,
      list: async () => [webhook],
      remove: async () => undefined,
    },
  });
});

afterAll(async () => {
  await app.close();
  await database.close();
});

async function ask(path: string, authorization?: string, body?: string) {
  const response = await fetch(app.url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...(authorization !== undefined && { authorization }) },
    ...(body !== undefined && { body }),
  });
  const { error } = (await response.json()) as { error?: { code: string } };
  const { status, headers } = response;
  return {
    ...{ status, code: error?.code },
    challenge: headers.get('www-authenticate'),
    caching: headers.get('cache-control'),
  };
}

describe('a key in the Authorization header', () => {
  it.each(['Bearer ', 'bearer ', 'BEARER   '])('is read after the scheme: %j', async (scheme) => {
    const answer = await ask('/v1/account', scheme + database.apiKey);
    expect(answer).toMatchObject({ status: 200, challenge: null });
  });

  it('is missing without that header', async () => {
    expect(await ask('/v1/account')).toMatchObject({
      ...{ status: 401, code: 'missing_api_key', challenge: 'Bearer' },
    });
  });

  it.each([
    ['followed by something else', (key: string) => `Bearer ${key} junk`],
    ['followed by another', (key: string) => `Bearer ${key}, Bearer ${key}`],
    ['without its scheme', (key: string) => key],
    ['behind a tab', (key: string) => `Bearer\t${key}`],
    ['behind its scheme without a space', (key: string) => `Bearer${key}`],
    ['of another scheme', () => 'Basic x'],
    ['that is left out', () => 'Bearer'],
    ['in an empty header', () => ''],
    ['cut short', (key: string) => `Bearer ${key.slice(0, -1)}`],
  ])('is invalid %s', async (_case, header) => {
    expect(await ask('/v1/account', header(database.apiKey))).toMatchObject({
      ...{ status: 401, code: 'invalid_api_key', challenge: 'Bearer' },
    });
  });
});

describe('an answer to a request with a key', () => {
  it.each([
    ['the balance', '/v1/account', 200, undefined],
    ['a secret', '/v1/webhooks', 200, '{"url":"https://example.com","events":["job.completed"]}'],
    ['the webhooks', '/v1/webhooks', 200, undefined],
    ['the jobs', '/v1/jobs', 200, undefined],
    ['what is wrong', '/v1/jobs?limit=0', 400, undefined],
  ])('may not be cached: %s', async (_case, path, status, body) => {
    const answer = await ask(path, `Bearer ${database.apiKey}`, body);
    expect(answer).toMatchObject({ status, caching: 'no-store' });
  });

  it('may not be cached when the key is refused', async () => {
    expect(await ask('/v1/account')).toMatchObject({ status: 401, caching: 'no-store' });
  });
});
