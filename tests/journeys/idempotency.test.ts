import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import OpenAI from 'openai';
import type { StartedProcess } from '../../testing/childProcess.ts';
import { REFUNDABLE_SECONDS } from '../../testing/ledger/deadlines.ts';
import {
  ofWallet,
  readBooks,
  untilDispatched,
  untilEnded,
} from '../../testing/ledger/walletBooks.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import { answerInTwoParts, createScriptedEngine } from '../../testing/workers/engines.ts';
import type { WorkerMode } from '../../testing/workers/misbehavingWorker.ts';

const CREDITS = 100n;
const CHARGE_CREDITS = 8n;
const FAILED = 'failed';
const engine = createScriptedEngine();
let service: RunningService;
/** Of one test: what is repeated and charged is counted for its wallet. */
let wallet: { address: PublicKey; apiKey: string };
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  service = await startRunningService({ workers: [engine] });
});

beforeEach(async () => {
  wallet = await service.addWallet(CREDITS);
});

afterAll(() => service?.close());

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** What the only worker does from now on. */
function setMode(mode: WorkerMode): void {
  service.workers[0]?.setMode(mode);
}

async function ask(options: {
  stream?: boolean;
  headers?: Record<string, string>;
  text?: string;
  baseUrl?: string;
}) {
  const { stream = false, headers, text = 'Say hello.', baseUrl = service.baseUrl } = options;
  const response = await fetch(`${baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${wallet.apiKey}`, ...headers },
    body: JSON.stringify({
      model: service.model.id,
      messages: [{ role: 'user', content: text }],
      stream,
      ...(stream && { stream_options: { include_usage: true } }),
    }),
  });
  return { response, body: await response.text() };
}

/** All pieces of text, however the answer came, and what comes with them. */
function read(body: string) {
  const chunks = body.startsWith('data:')
    ? body
        .split('\n\n')
        .filter((event) => event.startsWith('data: {'))
        .map((event) => JSON.parse(event.slice('data: '.length)))
    : [JSON.parse(body)];
  const choices = chunks.flatMap((chunk) => chunk.choices);
  return {
    id: chunks[0].id,
    text: choices.map(({ message, delta }) => (message ?? delta).content ?? '').join(''),
    finishReason: choices.at(-1).finish_reason,
    usage: chunks.at(-1).usage,
  };
}

async function statuses(): Promise<string[]> {
  const { jobs } = await readBooks(service, wallet.address);
  return jobs.map(({ status }) => status).sort();
}

async function spentCredits(): Promise<bigint> {
  const { available, locked } = await readBooks(service, wallet.address);
  return CREDITS - available - locked;
}

/** As it ends by itself after half a minute without a renewal. */
async function endLease(): Promise<void> {
  await service.pool.query(
    `update service.idempotent_requests
     set lease_expires_at = lease_expires_at - interval '30 seconds' where wallet = $1`,
    [wallet.address.toBase58()],
  );
}

/** Until a request of the wallet without an Idempotency-Key has lost its answer, whose job has ended. */
async function untilLost(): Promise<void> {
  await untilEnded(service, wallet.address, 1);
  await until(async () => {
    const { rowCount } = await service.pool.query(
      'select from service.idempotent_requests where wallet = $1 and lost_at is not null',
      [wallet.address.toBase58()],
    );
    return rowCount === 1;
  });
}

/** Until what became of every response to the wallet is written. */
const untilDelivered = () =>
  until(async () => {
    const { rowCount } = await service.pool.query(
      'select from service.idempotent_requests where wallet = $1 and expires_at > now()',
      [wallet.address.toBase58()],
    );
    return rowCount === 0;
  });

/**
 * A proxy that loses the first answer: it leaves the service in the middle of it. Once the service has
 * charged it, the proxy cuts the client off.
 */
async function startLosingProxy(
  lose: (forwarded: http.ClientRequest) => Promise<void>,
): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = http.createServer(async (request, response) => {
    asked.push(String(request.headers['x-stainless-retry-count']));
    const isFirst = asked.length === 1;
    const { host: _host, ...headers } = request.headers;
    const forwarded = http.request(`${service.baseUrl}${request.url}`, {
      method: request.method ?? 'GET',
      headers,
    });
    request.pipe(forwarded);
    if (isFirst) {
      forwarded.on('error', () => undefined);
      await lose(forwarded);
      return void response.destroy();
    }
    const [answer] = (await once(forwarded, 'response')) as [IncomingMessage];
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Leaves a plain answer between its settlement and its delivery, for which the mirror is held. */
async function losePlain(forwarded: http.ClientRequest): Promise<void> {
  const mirror = await service.pool.connect();
  await mirror.query('begin');
  await mirror.query('lock table mirror.jobs in exclusive mode');
  service.time.hold();
  await untilEnded(service, wallet.address, 1);
  forwarded.destroy();
  await untilLost();
  await mirror.query('rollback');
  mirror.release();
  service.time.release();
}

/** Leaves a stream after its first text: what was produced is charged. */
async function loseStream(forwarded: http.ClientRequest): Promise<void> {
  const [answer] = (await once(forwarded, 'response')) as [IncomingMessage];
  await once(answer, 'data');
  answer.destroy();
  await untilLost();
}

describe.each([false, true])('a completion with stream %s', (stream) => {
  it('is replayed without a charge under the same Idempotency-Key [idempotency.replay]', async () => {
    setMode('honest');
    const headers = { 'idempotency-key': 'order-7' };
    const first = await ask({ stream, headers });
    await untilEnded(service, wallet.address, 1);
    await service.untilMirrored();
    const again = await ask({ stream, headers });
    expect(again.response.status).toBe(200);
    expect(read(again.body)).toEqual(read(first.body));
    expect(first.response.headers.get('x-svc-replayed')).toBeNull();
    expect(again.response.headers.get('x-svc-replayed')).toBe('true');
    for (const name of ['x-svc-job-id', 'x-svc-tx-signature', 'x-svc-worker', 'content-type']) {
      expect(again.response.headers.get(name)).toBe(first.response.headers.get(name));
    }
    if (!stream) {
      for (const name of ['x-svc-settlement-tx', 'x-svc-output-hash']) {
        expect(again.response.headers.get(name)).toBe(first.response.headers.get(name));
      }
    }
    expect(await statuses()).toEqual(['settled']);
    expect(await spentCredits()).toBe(CHARGE_CREDITS);

    const other = await ask({ stream, headers, text: 'Say something else.' });
    expect([other.response.status, JSON.parse(other.body).error.code]).toEqual([
      422,
      'idempotency_key_mismatch',
    ]);
    await service.pool.query(
      `update service.answer_copies copy set expires_at = now()
       from service.idempotent_requests request
       where wallet = $1 and copy.job_id = request.job_id`,
      [wallet.address.toBase58()],
    );
    const late = await ask({ stream, headers });
    expect([late.response.status, late.response.headers.get('x-should-retry')]).toEqual([
      409,
      'false',
    ]);
    expect(JSON.parse(late.body).error).toMatchObject({
      code: 'idempotency_key_reused',
      details: { job_id: first.response.headers.get('x-svc-job-id') },
    });
    expect(await statuses()).toEqual(['settled']);
  });

  it('is refused while the same request is still being answered [idempotency.in-use]', async () => {
    setMode('never_answers');
    const headers = { 'idempotency-key': 'order-7' };
    const first = ask({ stream, headers });
    await untilDispatched(service, wallet.address, 1);
    const again = await ask({ stream, headers });
    expect([again.response.status, again.response.headers.get('retry-after')]).toEqual([409, '2']);
    expect(JSON.parse(again.body).error.code).toBe('idempotency_key_in_use');
    await service.advanceSeconds(REFUNDABLE_SECONDS);
    expect((await first).response.status).toBe(504);
    // It ended without a charge, so the next one runs.
    const next = ask({ stream, headers });
    await untilDispatched(service, wallet.address, 1);
    await service.advanceSeconds(REFUNDABLE_SECONDS);
    await next;
    expect(await spentCredits()).toBe(0n);
  });

  it('runs again when the first one failed [idempotency.failed-runs-again]', async () => {
    setMode('wrong_hash');
    const headers = { 'idempotency-key': 'order-7' };
    await ask({ stream, headers });
    await ask({ stream, headers });
    expect(await statuses()).toEqual(['failed', 'failed']);
    expect(await spentCredits()).toBe(0n);
  });

  it('is charged once when the official client retries after a lost answer [idempotency.silent-retries]', async () => {
    setMode('honest');
    engine.play(async function* (signal) {
      yield 'Hello';
      if (stream) await once(signal, 'abort');
      signal.throwIfAborted();
    });
    const proxy = await startLosingProxy(stream ? loseStream : losePlain);
    const client = new OpenAI({ baseURL: `${proxy.url}/v1`, apiKey: wallet.apiKey });
    const body = {
      model: service.model.id,
      messages: [{ role: 'user' as const, content: 'Say hello.' }],
    };
    if (stream) {
      const chunks = await client.chat.completions.create({ ...body, stream: true });
      let text = '';
      for await (const chunk of chunks) text += chunk.choices[0]?.delta.content ?? '';
      expect(text).toBe('Hello');
    } else {
      const answer = await client.chat.completions.create(body);
      expect(answer.choices[0]?.message.content).toBeTruthy();
    }
    expect(proxy.asked).toEqual(['0', '1']);
    expect(await statuses()).toEqual(['settled']);
    expect(await spentCredits()).toBe(CHARGE_CREDITS);
  });

  it('is a sample of its own, though a retry, when its twins were delivered [idempotency.twins]', async () => {
    setMode('honest');
    engine.play(async function* () {
      yield 'Hello.';
    });
    const other = await service.startInstance();
    const urls = [service.baseUrl, other.url, service.baseUrl];
    const twins = await Promise.all(urls.map((baseUrl) => ask({ stream, baseUrl })));
    await untilDelivered();
    const headers = { 'x-stainless-retry-count': '2' };
    const samples = [...twins, await ask({ stream, headers, baseUrl: other.url })];
    await untilDelivered();
    samples.push(await ask({ stream, headers }));
    const jobIds = samples.map(({ response }) => response.headers.get('x-svc-job-id'));
    expect(new Set(jobIds).size).toBe(5);
    expect(samples.map(({ response }) => response.headers.get('x-svc-replayed'))).toEqual(
      Array(5).fill(null),
    );
    await untilEnded(service, wallet.address, 5);
    expect(await spentCredits()).toBe(5n * CHARGE_CREDITS);
  });
});

describe('a completion of another process', () => {
  let api: StartedProcess;

  beforeAll(async () => {
    api = await service.startApiProcess();
  });

  it('is charged once when its process was paused and goes on later', async () => {
    const release = answerInTwoParts(engine);
    const headers = { 'idempotency-key': 'pause' };
    const asking = ask({ headers, baseUrl: api.url });
    await untilDispatched(service, wallet.address, 1);
    api.signal('SIGSTOP');
    release();
    await endLease();
    const again = await ask({ headers });
    expect([again.response.status, read(again.body).text]).toEqual([200, 'Hello again.']);

    api.signal('SIGCONT');
    const { response, body } = await asking;
    expect(response.status).toBe(500);
    expect(JSON.parse(body).error.code).toBe('worker_failed');
    expect(await statuses()).toEqual(['failed', 'settled']);
    expect(await spentCredits()).toBe(CHARGE_CREDITS);
  });

  it('runs again once the lease of a killed process is over', async () => {
    setMode('never_answers');
    const headers = { 'idempotency-key': 'crash' };
    const asking = expect(ask({ headers, baseUrl: api.url })).rejects.toThrow();
    await untilDispatched(service, wallet.address, 1);
    await api.kill();
    await asking;
    setMode('honest');

    const soon = await ask({ headers });
    expect(soon.response.status).toBe(409);
    const seconds = Number(soon.response.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(30);
    expect(await statuses()).toEqual(['processing']);

    await endLease();
    const { response, body } = await ask({ headers });
    expect(response.status).toBe(200);
    expect(read(body).text).not.toBe('');
    expect(await statuses()).toEqual(['failed', 'settled']);
    const [abandoned] = (await readBooks(service, wallet.address)).jobs;
    expect(abandoned).toMatchObject({ reason: 'lease_lost' });
    expect(await spentCredits()).toBe(CHARGE_CREDITS);
  });
});

describe('a request that locked nothing', () => {
  it('runs under its Idempotency-Key once there are credits [failures.nothing-locked] [idempotency.failed-runs-again]', async () => {
    setMode('honest');
    const { address, apiKey } = await service.addWallet(1n);
    const headers = { 'idempotency-key': 'order-7', authorization: `Bearer ${apiKey}` };
    for (let round = 0; round < 2; round += 1) {
      const { response } = await ask({ headers });
      expect(response.status).toBe(402);
    }
    expect((await readBooks(service, address)).jobs).toEqual([]);
  });
});

describe('a time-out of the official client', () => {
  it('never leads to a charge for an answer that was not received [idempotency.silent-retries]', async () => {
    setMode('never_answers');
    const dispatched = () => untilDispatched(service, wallet.address, 1);
    const client = new OpenAI({
      ...{ baseURL: `${service.baseUrl}/v1`, apiKey: wallet.apiKey, maxRetries: 1 },
      // As its own time-out does, at a moment that is known.
      async fetch(url, options) {
        const late = new AbortController();
        const asking = fetch(url, { ...options, signal: late.signal });
        await Promise.race([asking, dispatched()]);
        late.abort();
        return asking;
      },
    });
    const messages = [{ role: 'user' as const, content: 'Say hello.' }];
    const asking = client.chat.completions.create({ model: service.model.id, messages });
    await expect(asking).rejects.toThrow('Request timed out.');
    await service.untilJobs((jobs) =>
      ofWallet(jobs, wallet.address).every(({ data }) => data.status === FAILED),
    );
    expect(await spentCredits()).toBe(0n);
  });
});
