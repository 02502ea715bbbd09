import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import http from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import OpenAI from 'openai';
import { regenerateKey, revokeKey } from '../../api/account/keys.ts';
import { isEnded } from '../../programs/client/accounts.ts';
import type { JobStatus } from '../../programs/client/generated/vocabulary.ts';
import type { StartedProcess } from '../../testing/childProcess.ts';
import { runCli } from '../../testing/cli.ts';
import { startIndexerInProcess, type TestIndexer } from '../../testing/indexer/inProcessIndexer.ts';
import { type Receiver, startReceiver } from '../../testing/indexer/receiver.ts';
import { REFUNDABLE_SECONDS } from '../../testing/ledger/deadlines.ts';
import { type Balancer, startBalancer } from '../../testing/service/balancer.ts';
import { secretsKeySteps } from '../../testing/service/gatedService.ts';
import { fetchHastily } from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import { answerInTwoParts, createScriptedEngine } from '../../testing/workers/engines.ts';
import { verifyWebhook } from '../../webhooks/index.ts';

const CREDITS = 100n;
const CHARGE_CREDITS = 8n;

type Instance = Pick<StartedProcess, 'url'>;

const engine = createScriptedEngine();
let service: RunningService;

beforeAll(async () => {
  service = await startRunningService({ workers: [engine, engine] });
});

afterAll(() => service?.close());

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
  messages: [{ role: 'user' as const, content }],
});

describe('two instances on one database and one ledger', () => {
  const REFUSED_KEYS_AT_ONCE = 50;
  let left: Instance;
  let right: Instance;
  let balancer: Balancer;

  beforeAll(async () => {
    [left, right] = await Promise.all([service.startInstance(), service.startInstance()]);
    balancer = await startBalancer([left.url, right.url]);
  });

  afterAll(() => balancer?.close());

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

  it('both refuse a key with the next request after it was revoked or replaced [keys.revoked-at-once]', async () => {
    const wallet = await service.addWallet(CREDITS);
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
    // Each of these instances names its own address; those of one service name one.
    const { verify_url: _own, ...svc } = body.svc;
    for (const instance of [left, right]) {
      const again = { ...body, svc: { ...svc, verify_url: expect.stringContaining(svc.job_id) } };
      expect(await ask(instance)).toEqual({ status: 200, isReplay: true, body: again });
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
    // Of one text, both would send the same transaction.
    const hashes = ['0', '1'].map((digit) => `sha256:${digit.repeat(64)}`);
    const disputeAt = (instance: Instance, received_output_hash = hashes[0]) =>
      post(instance, `/v1/jobs/${job}/dispute`, { received_output_hash });
    const answers = await Promise.all([disputeAt(left, hashes[0]), disputeAt(right, hashes[1])]);
    const statuses = answers.map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 409]);
    await service.untilMirrored();
    for (const instance of [left, right]) {
      expect((await call(instance, `/v1/jobs/${job}`)).body).toMatchObject({
        status: 'disputed',
        dispute: { status: 'open', your_hash: hashes[statuses.indexOf(200)] },
      });
      expect(await disputeAt(instance)).toMatchObject({
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
    expect(job.body).toMatchObject({ status: 'settled', credits_charged: Number(CHARGE_CREDITS) });
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

const REQUESTS = 20;

describe(`an instance that is killed under ${REQUESTS} requests`, () => {
  const LOCKED_BEFORE_KILL = 12;
  let killed: StartedProcess;
  let balancer: Balancer;

  beforeAll(async () => {
    killed = await service.startApiProcess();
    balancer = await startBalancer([killed.url, service.baseUrl]);
  });

  afterAll(() => balancer?.close());

  /** The official client with a wallet of its own, whose balance shows what its request cost. */
  interface Client {
    wallet: PublicKey;
    isStream: boolean;
    /** Asks, with the client's silent retries. @returns whether it got its answer */
    ask(): Promise<boolean>;
  }

  /** A stream that breaks off is the caller's to repeat: under a key, so that it is the same request. */
  async function addClient(index: number): Promise<Client> {
    const { address, apiKey } = await service.addWallet(CREDITS);
    const baseURL = `${balancer.url}/v1`;
    const { completions } = new OpenAI({ baseURL, apiKey, fetch: fetchHastily }).chat;
    // Two by two, since the balancer alternates.
    const isStream = index % 4 < 2;
    const body = completion(`Request ${index}.`);
    async function complete(): Promise<void> {
      if (!isStream) return void (await completions.create(body));
      const headers = { 'idempotency-key': `request-${index}` };
      const stream = await completions.create({ ...body, stream: true }, { headers });
      for await (const _chunk of stream);
    }
    return {
      ...{ wallet: address, isStream },
      ask: () =>
        complete().then(
          () => true,
          () => false,
        ),
    };
  }

  /** Waits until the mirror shows an end for each of their jobs. @returns these by wallet */
  async function untilAllEnded(clients: readonly Client[]): Promise<Map<string, JobStatus[]>> {
    const wallets = clients.map(({ wallet }) => wallet.toBase58());
    let statuses = new Map<string, JobStatus[]>();
    await until(async () => {
      const { rows } = await service.pool.query<{ wallet: string; statuses: JobStatus[] }>(
        `select wallet, array_agg(status) as statuses from mirror.jobs
         where wallet = any($1) group by wallet`,
        [wallets],
      );
      statuses = new Map(rows.map((row) => [row.wallet, row.statuses]));
      return [...statuses.values()].flat().every((status) => isEnded(status));
    });
    return statuses;
  }

  it('loses no credit, and charges no request twice, however often repeated', async () => {
    const clients = await Promise.all(Array.from({ length: REQUESTS }, (_, at) => addClient(at)));
    const before = (await service.jobs()).length;
    const release = answerInTwoParts(engine);
    // However long that takes, the other instance gives no answer up.
    service.time.hold();
    const asking = Promise.all(clients.map(({ ask }) => ask()));
    await service.untilJobs((jobs) => jobs.length >= before + LOCKED_BEFORE_KILL);
    // A stream: the others begin with their end.
    await until(async () => balancer.begun(killed.url) > 0);
    await killed.kill();
    service.time.release();
    release();
    const answered = await asking;
    expect(balancer.cuts()).toBeGreaterThan(0);
    expect(answered).toContain(true);

    await service.untilMirrored();
    await service.advanceSeconds(REFUNDABLE_SECONDS);
    await untilAllEnded(clients);
    const cutStreams = clients.filter(({ isStream }, index) => isStream && !answered[index]);
    expect(cutStreams).not.toEqual([]);
    await Promise.all(cutStreams.map(({ ask }) => until(ask)));

    await service.untilMirrored();
    const statuses = await untilAllEnded(clients);
    for (const { wallet } of clients) {
      // None where the request did not come as far as its lock.
      const ended = statuses.get(wallet.toBase58()) ?? [];
      const settled = ended.filter((status) => status === 'settled').length;
      expect(settled).toBeLessThanOrEqual(1);
      const { availableCredits, lockedCredits } = await service.account(wallet);
      expect({ availableCredits, lockedCredits }).toEqual({
        availableCredits: CREDITS - CHARGE_CREDITS * BigInt(settled),
        lockedCredits: 0n,
      });
    }
    await service.expectConserved();
  });
});

describe('SVC_SECRETS_KEY', () => {
  const newKey = randomBytes(32).toString('base64');
  let oldKey: string;
  let receiver: Receiver;
  let indexer: TestIndexer;
  let wallet: { address: PublicKey; apiKey: string };

  beforeAll(async () => {
    oldKey = service.apiEnvironment.SVC_SECRETS_KEY as string;
    indexer = service.indexer;
    [receiver, wallet] = await Promise.all([startReceiver(), service.addWallet(CREDITS)]);
  });

  afterAll(async () => {
    await indexer?.terminate();
    await receiver?.close();
  });

  /** The keys of a process, as docs/backup.md has them at each step. */
  const stepKeys = (step: number): Record<string, string> => {
    const [present = '', previous = ''] = secretsKeySteps(oldKey, newKey)[step] ?? [];
    return { SVC_SECRETS_KEY: present, SVC_SECRETS_KEY_PREVIOUS: previous };
  };

  const startApiAt = (step: number): Promise<Instance> => service.startInstance(stepKeys(step));

  async function replaceIndexer(step: number): Promise<void> {
    await indexer.terminate();
    indexer = await startIndexerInProcess({ ...service.indexerEnvironment, ...stepKeys(step) });
  }

  /** Asks for a completion, under the same key the same one. @returns whether it had been made before */
  async function ask(instance: Instance, idempotencyKey: string): Promise<boolean> {
    const { status, isReplay } = await call(instance, '/v1/chat/completions', {
      ...{ method: 'POST', apiKey: wallet.apiKey, idempotencyKey },
      body: completion(`Say ${idempotencyKey}.`),
    });
    expect(status).toBe(200);
    return isReplay;
  }

  /** @returns the secret of a webhook that hears of every completion from now on */
  async function createWebhook(instance: Instance): Promise<string> {
    const { body } = await call(instance, '/v1/webhooks', {
      ...{ method: 'POST', apiKey: wallet.apiKey },
      body: { url: `${receiver.url}/${randomUUID()}`, events: ['job.completed'] },
    });
    return body.secret;
  }

  /** Until a delivery has come that each of the secrets has signed, from one webhook each. */
  async function expectDelivered(secrets: string[]): Promise<void> {
    const isSignedBy = (secret: string) =>
      receiver.received.some(({ body: rawBody, headers }) => {
        try {
          return verifyWebhook({ rawBody, headers, secret }).event === 'job.completed';
        } catch {
          return false;
        }
      });
    await until(async () => secrets.every(isSignedBy));
    receiver.received.length = 0;
  }

  it('changes in a running service, without a lost webhook or double charge', async () => {
    // given a service under the old key, a webhook, and a request that was charged
    const first = { url: service.baseUrl };
    const secrets = [await createWebhook(first)];
    expect(await ask(first, 'a')).toBe(false);
    await expectDelivered(secrets);

    // when every process knows both keys, and the first of them seals with the new one
    const opening = await startApiAt(1);
    await replaceIndexer(1);
    const sealing = await startApiAt(2);
    secrets.push(await createWebhook(sealing));

    // then what each of them claims is a repeat at the others
    expect(await ask(opening, 'a')).toBe(true);
    expect(await ask(sealing, 'a')).toBe(true);
    expect(await ask(sealing, 'b')).toBe(false);
    expect(await ask(opening, 'b')).toBe(true);
    // and both webhooks hear of the new request
    await expectDelivered(secrets);

    // when all of them seal with the new key, and the secrets were resealed
    await replaceIndexer(2);
    const { DATABASE_URL = '' } = service.apiEnvironment;
    const resealed = await runCli(['webhooks', 'reseal'], {
      env: { DATABASE_URL, ...stepKeys(2) },
    });
    expect(resealed.error).toBe('Resealed secrets: 1. Under SVC_SECRETS_KEY already: 1.\n');

    // then the old key is needed no more
    await replaceIndexer(3);
    const last = await startApiAt(3);
    expect(await ask(last, 'b')).toBe(true);
    expect(await ask(last, 'c')).toBe(false);
    await expectDelivered(secrets);
    // In the mirror: a job of some minutes ago is closed on the ledger.
    const { rows } = await service.pool.query('select status from mirror.jobs where wallet = $1', [
      wallet.address.toBase58(),
    ]);
    expect(rows).toEqual(Array(3).fill({ status: 'settled' }));
  });
});
