import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import http from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { regenerateKey, revokeKey } from '../../api/account/keys.ts';
import type { StartedProcess } from '../../testing/childProcess.ts';
import { type Balancer, startBalancer } from '../../testing/service/balancer.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';

const CHARGE_CREDITS = 8;
const REFUSED_KEYS_AT_ONCE = 50;
let service: RunningService;
let left: StartedProcess;
let right: StartedProcess;
let balancer: Balancer;

beforeAll(async () => {
  service = await startRunningService();
  [left, right] = await Promise.all([service.startApiProcess(), service.startApiProcess()]);
  balancer = await startBalancer([left.url, right.url]);
});

afterAll(async () => {
  await balancer?.close();
  await service?.close();
});

type Instance = Pick<StartedProcess, 'url'>;

/** One request as the first wallet, unless it says otherwise. */
async function call(
  instance: Instance,
  path: string,
  options: { method?: string; apiKey?: string; idempotencyKey?: string; body?: object } = {},
) {
  const { method = 'GET', apiKey = service.apiKey, idempotencyKey, body } = options;
  const response = await fetch(`${instance.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return {
    status: response.status,
    isReplay: response.headers.get('x-svc-replayed') === 'true',
    // biome-ignore lint/suspicious/noExplicitAny: bodies are compared as a whole by the tests
    body: (await response.json()) as any,
  };
}

const post = (instance: Instance, path: string, body: object) =>
  call(instance, path, { method: 'POST', body });

/** What asks for a completion of `content`. */
const completion = (content: string) => ({
  model: service.model.id,
  messages: [{ role: 'user', content }],
});

/** A settled job, asked for through the balancer, that is in the mirror. */
async function settleJob(): Promise<string> {
  const { status, body } = await post(
    balancer,
    '/v1/chat/completions',
    completion(`Say ${randomUUID()}.`),
  );
  expect(status).toBe(200);
  await service.untilMirrored();
  return body.id.replace('chatcmpl-', '');
}

describe('two instances on one database and one ledger', () => {
  it('both refuse a key with the next request after it was revoked or replaced [keys.revoked-at-once]', async () => {
    const wallet = await service.addWallet(100n);
    const statuses = (apiKey: string) =>
      Promise.all(
        [left, right, left, right].map(async (instance) => {
          const { status, body } = await call(instance, '/v1/models', { apiKey });
          return [status, body.error?.code];
        }),
      );
    expect(await statuses(wallet.apiKey)).toEqual(Array(4).fill([200, undefined]));
    const next = await regenerateKey(service.pool, wallet.address.toBase58());
    expect(await statuses(wallet.apiKey)).toEqual(Array(4).fill([401, 'invalid_api_key']));
    expect(await statuses(next)).toEqual(Array(4).fill([200, undefined]));
    await revokeKey(service.pool, wallet.address.toBase58());
    expect(await statuses(next)).toEqual(Array(4).fill([401, 'invalid_api_key']));
  });

  it('run one job for a request that reaches both under one Idempotency-Key', async () => {
    const before = (await service.jobs()).length;
    const request = {
      method: 'POST',
      idempotencyKey: randomUUID(),
      body: completion('Say hello.'),
    };
    const ask = (instance: Instance) => call(instance, '/v1/chat/completions', request);
    const first = await Promise.all([left, right, left, right].map(ask));
    const answered = first.filter(({ status }) => status === 200);
    expect(answered.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
    for (const { status, body } of first.filter((one) => !answered.includes(one))) {
      expect([status, body.error.code]).toEqual([409, 'idempotency_key_in_use']);
    }
    await service.untilMirrored();
    const { body } = answered[0] as (typeof answered)[number];
    for (const instance of [left, right]) {
      expect(await ask(instance)).toEqual({ status: 200, isReplay: true, body });
    }
    expect((await service.jobs()).length).toBe(before + 1);
  });

  it("return the same pages and accept each other's cursors", async () => {
    for (let job = 0; job < 4; job += 1) await settleJob();
    const { body: all } = await call(left, '/v1/jobs');
    const ids = all.data.map(({ id }: { id: string }) => id);
    for (const query of ['', '?limit=2', `?after=${ids.at(-1)}&limit=2`, '?status=settled']) {
      const page = await call(left, `/v1/jobs${query}`);
      expect(page.status).toBe(200);
      expect(await call(right, `/v1/jobs${query}`)).toEqual(page);
    }

    const seen: string[] = [];
    let cursor = '';
    for (let page = 0; page < ids.length; page += 1) {
      const { body } = await call(page % 2 === 0 ? left : right, `/v1/jobs?limit=1${cursor}`);
      seen.push(body.data[0].id);
      cursor = `&before=${body.next_cursor}`;
    }
    expect(seen).toEqual(ids);
  });

  it('open one dispute when both receive it for the same job', async () => {
    const job = await settleJob();
    const body = { received_output_hash: `sha256:${'0'.repeat(64)}` };
    const answers = await Promise.all(
      [left, right].map((instance) => post(instance, `/v1/jobs/${job}/dispute`, body)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    await service.untilMirrored();
    for (const instance of [left, right]) {
      expect((await call(instance, `/v1/jobs/${job}`)).body).toMatchObject({
        status: 'disputed',
        dispute: { status: 'open', your_hash: body.received_output_hash },
      });
      expect(await post(instance, `/v1/jobs/${job}/dispute`, body)).toMatchObject({
        status: 409,
        body: { error: { code: 'dispute_already_open' } },
      });
    }
  });

  it('see each other’s webhooks at once', async () => {
    const webhook = { url: 'http://127.0.0.1:9/hook', events: ['job.failed'] };
    const { body: created } = await post(left, '/v1/webhooks', webhook);
    const { body: listed } = await call(right, '/v1/webhooks');
    expect(listed.data).toMatchObject([{ id: created.id, url: webhook.url }]);
    expect(await post(right, '/v1/webhooks', webhook)).toMatchObject({
      status: 409,
      body: { error: { code: 'duplicate_webhook' } },
    });
    const removed = await call(right, `/v1/webhooks/${created.id}`, { method: 'DELETE' });
    expect(removed.status).toBe(200);
    expect((await call(left, '/v1/webhooks')).body.data).toEqual([]);
  });

  it('stream through a load balancer, including trailers', async () => {
    const request = http.request(`${balancer.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.apiKey}` },
    });
    request.end(JSON.stringify({ ...completion('Say hello.'), stream: true }));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(await readText(response)).toMatch(/data: \[DONE\]\n\n$/);
    const job = await call(balancer, `/v1/jobs/${response.headers['x-svc-job-id']}`);
    expect(response.trailers).toMatchObject({
      'x-svc-settlement-tx': job.body.on_chain.settlement_tx,
      'x-svc-output-hash': job.body.on_chain.proof_hash,
    });
    expect(job.body).toMatchObject({ status: 'settled', credits_charged: CHARGE_CREDITS });
  });

  it('count refused keys separately', async () => {
    const apiKey = `svc_live_${'x'.repeat(32)}`;
    const statuses: number[] = [];
    for (let guess = 0; guess < 2 * REFUSED_KEYS_AT_ONCE; guess += 1) {
      statuses.push((await call(left, '/v1/models', { apiKey })).status);
    }
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect((await call(right, '/v1/models', { apiKey })).status).toBe(401);
  });
});
