import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { json as readJson } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { createKey, revokeKey } from '../../api/account/keys.ts';
import { reinstateWallet, suspendWallet } from '../../api/account/suspensions.ts';
import type { Webhooks } from '../../api/account/webhooks.ts';
import type { AppServices } from '../../api/app.ts';
import { createKeyAdmission } from '../../api/http/middleware/authentication.ts';
import { createIdempotency } from '../../api/jobs/idempotency.ts';
import { createRequestIdentification } from '../../api/routes/completions.ts';
import { createLogger } from '../../common/logger.ts';
import { insertMirroredJobs } from '../../testing/database/jobListings.ts';
import { until } from '../../testing/until.ts';
import { insertAccount } from './keyedDatabase.ts';
import { bodyWith } from './requestScene.ts';
import { openServedDatabase, type ServedDatabase } from './servedDatabase.ts';

const GATEWAY = 'this service';
/** Of UTC, counted from 1970. */
const DAY = 20_000n;
const body = bodyWith({});
const webhook = {
  ...{ id: 'wh_0', url: 'https://example.com', events: ['job.completed'], status: 'active' },
  created_at: new Date(0),
};
let scene: ServedDatabase;
let pool: pg.Pool;
/** The names of the statements that the app has an answer to. */
let statements: string[];
let wallet: string;
let apiKey: string;
/** Of the last refusal. */
let message: string;

/** What the app is made of; each of its statements is noted once it is answered. */
function servicesOf(database: pg.Pool): Partial<AppServices> {
  const query = async (statement: { name?: string }) => {
    const answer = await database.query(statement as never);
    statements.push(statement.name ?? 'unnamed');
    return answer;
  };
  const counted = { query } as unknown as pg.Pool;
  const idempotency = createIdempotency({
    database: counted,
    findStatus: async () => 'failed',
    nowMs: () => Date.now(),
    failOrphan: async () => 'failed',
    logger: createLogger({ name: 'test', level: 'silent' }),
  });
  return {
    database: counted,
    keys: createKeyAdmission(counted),
    gateway: GATEWAY,
    webhooks: {
      create: async () => ({ webhook, madeSecret: 'a secret' }),
      list: async () => [webhook],
    } as unknown as Webhooks,
    nowSeconds: () => DAY * 86_400n + 7n,
    identify: createRequestIdentification(randomBytes(32)),
    completions: {
      async complete({ payer, identity, response }) {
        await idempotency.claim(identity, 'job_0');
        // Else its lease is renewed every few seconds, which is no statement of a request.
        await idempotency.close();
        response.json(payer.wallet);
      },
      drain: async () => undefined,
    },
  };
}

beforeAll(async () => {
  scene = await openServedDatabase(servicesOf);
  pool = scene.pool;
});
afterAll(() => scene?.close());

/** A wallet whose key has been admitted once. */
beforeEach(async () => {
  await pool.query('truncate service.idempotent_requests, service.api_keys cascade');
  await pool.query('truncate mirror.credit_accounts, mirror.jobs');
  wallet = `wallet ${randomBytes(4).toString('hex')}`;
  apiKey = await createKey(pool, wallet);
  await insertAccount(pool, { wallet, spender: GATEWAY, availableCredits: 5n });
  statements = [];
  await ask();
  expect(statements).toEqual(['select_keys_and_accounts', 'claim_requests']);
  await pool.query('truncate service.idempotent_requests');
  statements = [];
});

/** The wallet that it was answered for, or why it was refused. */
async function ask(sent: { headers?: Record<string, string> } = {}) {
  const path = '/v1/chat/completions';
  type Answer = string | { error: { code: string; message: string } };
  const { body: answer } = await scene.call<Answer>(path, { key: apiKey, body, ...sent });
  if (typeof answer === 'string') return answer;
  message = answer.error.message;
  return answer.error.code;
}

async function claims(): Promise<number> {
  const { rowCount } = await pool.query('select 1 from service.idempotent_requests');
  return rowCount ?? 0;
}

const setSpender = (spender: string) =>
  pool.query('update mirror.credit_accounts set spender = $1', [spender]);

const forms = [
  ['', {}],
  [' with an Idempotency-Key', { 'idempotency-key': 'k' }],
  [' that is retried', { 'x-stainless-retry-count': '1' }],
] as const;

describe.each(forms)('a request%s under a cached key', (_form, headers) => {
  it('is refused from the next request on after its key was revoked', async () => {
    expect([await ask({ headers }), await claims()]).toEqual([wallet, 1]);
    await pool.query('truncate service.idempotent_requests');
    await revokeKey(pool, wallet);
    expect([await ask({ headers }), await claims()]).toEqual(['invalid_api_key', 0]);
  });

  it('is refused exactly while its key is suspended, with the reason', async () => {
    await suspendWallet(pool, wallet, 'A chargeback on Monday.');
    expect([await ask({ headers }), await claims()]).toEqual(['key_suspended', 0]);
    expect(message).toBe(
      'The API key is suspended: A chargeback on Monday. The operator of this service can reinstate it.',
    );
    await reinstateWallet(pool, wallet);
    expect(await ask({ headers })).toBe(wallet);
  });

  it('is refused after its wallet set another spender', async () => {
    await setSpender('another service');
    expect(await ask({ headers })).toBe('spender_not_set');
  });
});

describe('a request whose body is on its way', () => {
  it.each([
    ['revoked', revokeKey, 'invalid_api_key'],
    ['suspended', suspendWallet, 'key_suspended'],
  ] as const)('is refused when its key is %s before it has arrived', async (_how, end, code) => {
    const sending = http.request(`${scene.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-length': body.length },
    });
    sending.write(body.slice(0, 1));
    await until(async () => statements.length > 0);
    await end(pool, wallet);
    sending.end(body.slice(1));
    const [response] = (await once(sending, 'response')) as [http.IncomingMessage];
    expect(await readJson(response)).toMatchObject({ error: { code } });
    expect(await claims()).toBe(0);
  });
});

describe('GET /v1/account', () => {
  /** A job of 2 credits. */
  const lockedAt = (second: bigint, status: string) => ({
    ...{ wallet, id: `${status} at ${second}`, model: 'small' },
    ...{ lockedAt: Number(DAY * 86_400n + second), status },
  });

  it.each([
    ['today', DAY, 5],
    ['on a day that the clock has left backwards', DAY + 1n, 9],
    ['on an earlier day', DAY - 1n, 0],
  ])('shows limits, what is locked now, and what was charged %s', async (_when, day, charged) => {
    await pool.query(
      `update mirror.credit_accounts set locked_credits = 8, limit_per_job_credits = 9,
         limit_per_day_credits = 18446744073709551615, spent_day = $1, spent_today_credits = 9`,
      [day],
    );
    const ended = ['settled', 'failed', 'refunded', 'disputed'].map((end) => lockedAt(1n, end));
    await insertMirroredJobs(pool, [
      ...ended,
      ...[lockedAt(0n, 'pending'), lockedAt(1n, 'processing'), lockedAt(-1n, 'settling')],
      lockedAt(2n, 'processing'),
    ]);
    // The wallet's own lock, which no limit counts.
    await pool.query(
      'update mirror.jobs set limit_day = case when job_id = $1 then 0 else locked_at / 86400 end',
      [lockedAt(2n, 'processing').id],
    );
    expect((await scene.call('/v1/account', { key: apiKey })).body).toMatchObject({
      credits_remaining: 5,
      charged_today_credits: charged,
      locked_now_credits: 8,
      limits: { per_job_credits: 9, per_day_credits: null },
    });
  });
});

describe('a key in the Authorization header', () => {
  /** What is answered to a request with this header, in status, code, challenge and caching. */
  async function call(path: string, authorization?: string, sent?: string) {
    const {
      status,
      headers,
      body: answer,
    } = await scene.call<{ error?: object }>(path, {
      key: null,
      ...(authorization !== undefined && { headers: { authorization } }),
      ...(sent !== undefined && { body: sent }),
    });
    const challenge = headers.get('www-authenticate');
    return { ...answer.error, status, challenge, caching: headers.get('cache-control') };
  }

  it.each(['Bearer ', 'bearer ', 'BEARER   '])('is read after the scheme: %j', async (scheme) => {
    const answer = await call('/v1/account', scheme + apiKey);
    expect(answer).toMatchObject({ status: 200, challenge: null });
  });

  it.each<[string, (key: string) => string | undefined, string?]>([
    ['followed by something else', (key: string) => `Bearer ${key} junk`],
    ['followed by another', (key: string) => `Bearer ${key}, Bearer ${key}`],
    ['without its scheme', (key: string) => key],
    ['behind a tab', (key: string) => `Bearer\t${key}`],
    ['behind its scheme without a space', (key: string) => `Bearer${key}`],
    ['of another scheme', () => 'Basic x'],
    ['that is left out', () => 'Bearer'],
    ['in an empty header', () => ''],
    ['that is missing', () => undefined],
    ['cut short', (key: string) => `Bearer ${key.slice(0, -1)}`, '41 characters. 40 were sent'],
    ['in quotes', (key: string) => `Bearer "${key}"`, 'with quotes around it'],
    ['with a quote behind it', (key: string) => `Bearer ${key}'`, 'with quotes around it'],
    ['with a written line break', (key: string) => `Bearer ${key}\\n`, 'with a line break'],
    ['with an encoded one', (key: string) => `Bearer ${key}%0A`, 'with a line break'],
  ])('is refused %s', async (...[, header, fault = '']) => {
    const authorization = header(apiKey);
    const code = authorization === undefined ? 'missing_api_key' : 'invalid_api_key';
    const message = expect.stringContaining(fault);
    expect(await call('/v1/account', authorization)).toMatchObject({
      ...{ status: 401, code, message, challenge: 'Bearer', caching: 'no-store' },
    });
  });

  it.each([
    ['the balance', '/v1/account', 200, undefined],
    ['a secret', '/v1/webhooks', 200, JSON.stringify({ url: webhook.url, events: webhook.events })],
    ['the jobs', '/v1/jobs', 200, undefined],
    ['the webhooks', '/v1/webhooks', 200, undefined],
    ['what is wrong', '/v1/jobs?cursor=x', 400, undefined],
  ])('leads to no answer that may be cached: %s', async (_case, path, status, sent) => {
    const answer = await call(path, `Bearer ${apiKey}`, sent);
    expect(answer).toMatchObject({ status, caching: 'no-store' });
    if (status === 400) expect(answer).toMatchObject({ param: 'cursor' });
  });
});
