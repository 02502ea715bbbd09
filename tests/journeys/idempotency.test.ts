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
import { bodyFor } from '../../testing/service/formats.ts';
import {
  type Answer,
  type Form,
  ROUTED_FORMS,
  ROUTES,
  type Route,
  requestCompletion,
} from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import { createScriptedEngine } from '../../testing/workers/engines.ts';
import type { WorkerMode } from '../../testing/workers/misbehavingWorker.ts';

const CREDITS = 100n;
const CHARGE_CREDITS = 8n;
const HELLO = [{ role: 'user' as const, content: 'Say hello.' }];
const engine = createScriptedEngine();
let service: RunningService;
/** Of one test: what is repeated and charged is counted for its wallet. */
let wallet: { address: PublicKey; apiKey: string };

beforeAll(async () => {
  service = await startRunningService({
    workers: [engine],
    apiSettings: { SVC_ACKNOWLEDGEMENT_LINGER_MS: '50' },
  });
});

beforeEach(async () => {
  wallet = await service.addWallet(CREDITS);
});

afterAll(() => service?.close());

/** What the only worker does from now on. */
function setMode(mode: WorkerMode): void {
  service.workers[0]?.setMode(mode);
}

interface Asked {
  form?: Form;
  route?: Route;
  headers?: Record<string, string>;
  text?: string;
  baseUrl?: string;
}

const ask = ({
  form = 'plain',
  text = 'Say hello.',
  baseUrl,
  ...asked
}: Asked): Promise<Answer> => {
  const body = { messages: [{ role: 'user', content: text }] };
  const { apiKey } = wallet;
  return requestCompletion(
    { ...service, baseUrl: baseUrl ?? service.baseUrl },
    { form, apiKey, body, ...asked },
  );
};

const otherThan = (route: Route) => ROUTES.find((each) => each !== route) as Route;

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

/** The text that the official client has in the end, as it is asked on each route. */
async function textFor(client: OpenAI, form: Form, route: Route): Promise<string> {
  const model = service.model.id;
  let text = '';
  if (route === 'responses') {
    const asked = { model, input: HELLO };
    if (form === 'plain') return (await client.responses.create(asked)).output_text;
    for await (const event of await client.responses.create({ ...asked, stream: true })) {
      if (event.type === 'response.output_text.delta') text += event.delta;
    }
    return text;
  }
  const { completions } = client.chat;
  const asked = { model, messages: HELLO };
  if (form === 'plain') return (await completions.create(asked)).choices[0]?.message.content ?? '';
  for await (const { choices } of await completions.create({ ...asked, stream: true })) {
    text += choices[0]?.delta.content ?? '';
  }
  return text;
}

describe.each(ROUTED_FORMS)('a %s answer of %s', (form, route) => {
  it('is replayed without a charge under the same Idempotency-Key [idempotency.replay]', async () => {
    setMode('honest');
    const headers = { 'idempotency-key': 'order-7' };
    const first = await ask({ form, route, headers });
    await untilEnded(service, wallet.address, 1);
    await service.untilMirrored();
    const again = await ask({ form, route, headers });
    expect(again.status).toBe(200);
    expect(again.body).toBe(first.body);
    expect(first.headers['x-svc-replayed']).toBeUndefined();
    expect(again.headers['x-svc-replayed']).toBe('true');
    for (const name of ['x-svc-job-id', 'x-svc-tx-signature', 'x-svc-worker', 'content-type']) {
      expect(again.headers[name]).toBe(first.headers[name]);
    }
    if (form === 'plain') {
      for (const name of ['x-svc-settlement-tx', 'x-svc-output-hash']) {
        expect(again.headers[name]).toBe(first.headers[name]);
      }
    }
    expect(await statuses()).toEqual(['settled']);
    expect(await spentCredits()).toBe(CHARGE_CREDITS);

    for (const changed of [{ text: 'Say something else.' }, { route: otherThan(route) }]) {
      const other = await ask({ form, route, headers, ...changed });
      expect([other.status, other.error?.code]).toEqual([422, 'idempotency_key_mismatch']);
    }
    await service.pool.query(
      `update service.answer_copies copy set expires_at = now()
       from service.idempotent_requests request
       where wallet = $1 and copy.job_id = request.job_id`,
      [wallet.address.toBase58()],
    );
    const late = await ask({ form, route, headers });
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
    const first = ask({ form, route, headers });
    await untilDispatched(service, wallet.address, 1);
    const again = await ask({ form, route, headers });
    expect([again.status, again.headers['retry-after']]).toEqual([409, '2']);
    expect(again.error?.code).toBe('idempotency_key_in_use');
    await service.advanceSeconds(REFUNDABLE_SECONDS);
    expect((await first).status).toBe(504);
    expect(await spentCredits()).toBe(0n);
    // It ended without a charge, so the next one runs.
    setMode('honest');
    expect(await ask({ form, route, headers })).toMatchObject({ status: 200, error: undefined });
    expect(await statuses()).toEqual(['refunded', 'settled']);
  });

  it('runs again when the first one failed [idempotency.failed-runs-again]', async () => {
    setMode('wrong_hash');
    const headers = { 'idempotency-key': 'order-7' };
    await ask({ form, route, headers });
    await ask({ form, route, headers });
    expect(await statuses()).toEqual(['failed', 'failed']);
    expect(await spentCredits()).toBe(0n);
  });

  it('is charged once when the official client retries after a lost answer [idempotency.silent-retries]', async () => {
    setMode('honest');
    engine.play(async function* (signal) {
      yield 'Hello';
      if (form === 'stream') await once(signal, 'abort');
      signal.throwIfAborted();
    });
    const { client, asked } = createLosingClient(form === 'stream' ? loseStream : losePlain);
    expect(await textFor(client, form, route)).toBe('Hello');
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
    const twins = await Promise.all(urls.map((baseUrl) => ask({ form, route, baseUrl })));
    await untilDelivered();
    const headers = { 'x-stainless-retry-count': '2' };
    const samples = [...twins, await ask({ form, route, headers, baseUrl: other.url })];
    await untilDelivered();
    samples.push(await ask({ form, route, headers }));
    const jobIds = samples.map(({ headers }) => headers['x-svc-job-id']);
    expect(new Set(jobIds).size).toBe(5);
    expect(samples.map(({ headers }) => headers['x-svc-replayed'])).toEqual(
      Array(5).fill(undefined),
    );
    await untilEnded(service, wallet.address, 5);
    expect(await spentCredits()).toBe(5n * CHARGE_CREDITS);
  });
});

describe.each(ROUTES)('a request of %s', (route) => {
  it('is repeated at another spelling of its path, and by no other route', async () => {
    setMode('honest');
    const body = JSON.stringify(bodyFor(route, { model: service.model.id, messages: HELLO }));
    const headers = { authorization: `Bearer ${wallet.apiKey}`, 'idempotency-key': 'order-7' };
    const seen: unknown[] = [];
    for (const path of [route, `${route}/`, otherThan(route)]) {
      const answer = await fetch(`${service.baseUrl}/v1/${path}`, {
        method: 'POST',
        headers,
        body,
      });
      await answer.text();
      seen.push([answer.status, answer.headers.get('x-svc-replayed')]);
    }
    expect(seen).toEqual([
      [200, null],
      [200, 'true'],
      [400, null],
    ]);
    expect(await statuses()).toEqual(['settled']);
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
  it.each(ROUTES)(
    'never leads to a charge for an answer that was not received: %s [idempotency.silent-retries]',
    async (route) => {
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
      await expect(textFor(client, 'plain', route)).rejects.toThrow('Request timed out.');
      await service.untilJobs((jobs) =>
        ofWallet(jobs, wallet.address).every(({ data }) => data.status === 'failed'),
      );
      expect(await spentCredits()).toBe(0n);
    },
  );
});
