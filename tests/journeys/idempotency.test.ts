import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import OpenAI from 'openai';
import { REFUNDABLE_SECONDS } from '../../testing/ledger/deadlines.ts';
import {
  ofWallet,
  readBooks,
  untilDispatched,
  untilEnded,
} from '../../testing/ledger/walletBooks.ts';
import { type Answer, requestCompletion } from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import { createScriptedEngine } from '../../testing/workers/engines.ts';
import type { WorkerMode } from '../../testing/workers/misbehavingWorker.ts';

const CREDITS = 100n;
const CHARGE_CREDITS = 8n;
const engine = createScriptedEngine();
let service: RunningService;
/** Of one test: what is repeated and charged is counted for its wallet. */
let wallet: { address: PublicKey; apiKey: string };

beforeAll(async () => {
  service = await startRunningService({ workers: [engine] });
});

beforeEach(async () => {
  wallet = await service.addWallet(CREDITS);
});

afterAll(() => service?.close());

/** What the only worker does from now on. */
function setMode(mode: WorkerMode): void {
  service.workers[0]?.setMode(mode);
}

const ask = (options: {
  stream?: boolean;
  headers?: Record<string, string>;
  text?: string;
  baseUrl?: string;
}): Promise<Answer> => {
  const { stream = false, headers = {}, text = 'Say hello.', baseUrl = service.baseUrl } = options;
  const messages = [{ role: 'user', content: text }];
  const form = stream ? 'stream' : 'plain';
  const asked = { form, apiKey: wallet.apiKey, headers } as const;
  const body = { messages, ...(stream && { stream_options: { include_usage: true } }) };
  return requestCompletion({ ...service, baseUrl }, { ...asked, body });
};

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

type Lose = (asking: Promise<Response>, leave: () => void) => Promise<void>;

/** The official client, whose first connection breaks once the service has charged what it began. */
function createLosingClient(lose: Lose): { client: OpenAI; asked: (string | null)[] } {
  const asked: (string | null)[] = [];
  const client = new OpenAI({
    ...{ baseURL: `${service.baseUrl}/v1`, apiKey: wallet.apiKey },
    async fetch(url, options) {
      asked.push(new Headers(options?.headers).get('x-stainless-retry-count'));
      if (asked.length > 1) return fetch(url, options);
      const left = new AbortController();
      const asking = fetch(url, { ...options, signal: left.signal });
      asking.catch(() => undefined);
      await lose(asking, () => left.abort());
      throw new TypeError('the connection broke');
    },
  });
  return { client, asked };
}

/** Leaves a plain answer between its settlement and its delivery, for which the mirror is held. */
const losePlain: Lose = async (_asking, leave) => {
  const mirror = await service.pool.connect();
  await mirror.query('begin');
  await mirror.query('lock table mirror.jobs in exclusive mode');
  service.time.hold();
  await untilEnded(service, wallet.address, 1);
  leave();
  await untilLost();
  await mirror.query('rollback');
  mirror.release();
  service.time.release();
};

/** Leaves a stream after its first text: what was produced is charged. */
const loseStream: Lose = async (asking, leave) => {
  await (await asking).body?.getReader().read();
  leave();
  await untilLost();
};

describe.each([false, true])('a completion with stream %s', (stream) => {
  it('is replayed without a charge under the same Idempotency-Key [idempotency.replay]', async () => {
    setMode('honest');
    const headers = { 'idempotency-key': 'order-7' };
    const first = await ask({ stream, headers });
    await untilEnded(service, wallet.address, 1);
    await service.untilMirrored();
    const again = await ask({ stream, headers });
    expect(again.status).toBe(200);
    expect(read(again.body)).toEqual(read(first.body));
    expect(first.headers['x-svc-replayed']).toBeUndefined();
    expect(again.headers['x-svc-replayed']).toBe('true');
    for (const name of ['x-svc-job-id', 'x-svc-tx-signature', 'x-svc-worker', 'content-type']) {
      expect(again.headers[name]).toBe(first.headers[name]);
    }
    if (!stream) {
      for (const name of ['x-svc-settlement-tx', 'x-svc-output-hash']) {
        expect(again.headers[name]).toBe(first.headers[name]);
      }
    }
    expect(await statuses()).toEqual(['settled']);
    expect(await spentCredits()).toBe(CHARGE_CREDITS);

    const other = await ask({ stream, headers, text: 'Say something else.' });
    expect([other.status, other.error?.code]).toEqual([422, 'idempotency_key_mismatch']);
    await service.pool.query(
      `update service.answer_copies copy set expires_at = now()
       from service.idempotent_requests request
       where wallet = $1 and copy.job_id = request.job_id`,
      [wallet.address.toBase58()],
    );
    const late = await ask({ stream, headers });
    expect([late.status, late.headers['x-should-retry']]).toEqual([409, 'false']);
    expect(late.error).toMatchObject({
      code: 'idempotency_key_reused',
      details: { job_id: first.headers['x-svc-job-id'] },
    });
    expect(await statuses()).toEqual(['settled']);
  });

  it('is refused while the same request is still being answered [idempotency.in-use]', async () => {
    setMode('never_answers');
    const headers = { 'idempotency-key': 'order-7' };
    const first = ask({ stream, headers });
    await untilDispatched(service, wallet.address, 1);
    const again = await ask({ stream, headers });
    expect([again.status, again.headers['retry-after']]).toEqual([409, '2']);
    expect(again.error?.code).toBe('idempotency_key_in_use');
    await service.advanceSeconds(REFUNDABLE_SECONDS);
    expect((await first).status).toBe(504);
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
    const { client, asked } = createLosingClient(stream ? loseStream : losePlain);
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
    expect(asked).toEqual(['0', '1']);
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
    const jobIds = samples.map(({ headers }) => headers['x-svc-job-id']);
    expect(new Set(jobIds).size).toBe(5);
    expect(samples.map(({ headers }) => headers['x-svc-replayed'])).toEqual(
      Array(5).fill(undefined),
    );
    await untilEnded(service, wallet.address, 5);
    expect(await spentCredits()).toBe(5n * CHARGE_CREDITS);
  });
});

describe('a request that locked nothing', () => {
  it('runs under its Idempotency-Key once there are credits [failures.nothing-locked] [idempotency.failed-runs-again]', async () => {
    setMode('honest');
    const { address, apiKey } = await service.addWallet(1n);
    const headers = { 'idempotency-key': 'order-7', authorization: `Bearer ${apiKey}` };
    for (let round = 0; round < 2; round += 1) {
      expect((await ask({ headers })).status).toBe(402);
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
      ofWallet(jobs, wallet.address).every(({ data }) => data.status === 'failed'),
    );
    expect(await spentCredits()).toBe(0n);
  });
});
