import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { STOPPED_SECONDS } from '../../testing/ledger/deadlines.ts';
import { readBooks, untilEnded } from '../../testing/ledger/walletBooks.ts';
import { createRandom } from '../../testing/random.ts';
import {
  type Answer,
  FORMS,
  type Form,
  openCompletion,
  readAnswer,
  requestCompletion,
  sample,
  untilSampled,
} from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import { createSwitchedEngine, type SwitchedEngine } from '../../testing/workers/engines.ts';
import type { Engine } from '../../worker/engine/engine.ts';
import { createUpstreamEngine } from '../../worker/engine/upstream.ts';
import {
  playUpstreamFault,
  UPSTREAM_FAULTS,
  type UpstreamFault,
} from '../faults/upstreamFaults.ts';
import { type Reply, startUpstream, type UpstreamServer } from '../worker/upstreamServer.ts';

const CREDITS = 1_000n;
/** Longer than an answer may be without text before it is cut off, and than a model may be silent. */
const TOO_LONG_MS = 21_000;
/** Less than that, and twice as long is more. */
const PAUSE_MS = 11_000;

const random = createRandom(1);

let service: RunningService;
let upstream: UpstreamServer;
/** This one, and those of workers that join at the end. */
let upstreams: UpstreamServer[];
let engine: SwitchedEngine;

beforeAll(async () => {
  upstream = await startUpstream();
  upstreams = [upstream];
  engine = createSwitchedEngine(createUpstreamEngine({ url: upstream.url }));
  service = await startRunningService({ workers: [engine], apiSettings: { METRICS_PORT: '0' } });
});

afterAll(async () => {
  await service?.close();
  for (const { close } of upstreams) close();
});

const FIRST_TOKENS = 'svc_api_stage_seconds_count{stage="first_token"}';

/**
 * Has a wallet of its own ask.
 *
 * @param act is called while that runs; what it gets waits until the API has a first word or
 *   thought
 */
async function complete(
  form: Form,
  body: Record<string, unknown> = {},
  act: (untilBegun: () => Promise<void>) => Promise<void> = async () => undefined,
): Promise<Answer & { books: Awaited<ReturnType<typeof untilEnded>> }> {
  const { address, apiKey } = await service.addWallet(CREDITS);
  const before = (await sample(service, FIRST_TOKENS)) ?? 0;
  const answering = openCompletion(service, { form, apiKey, body }).then(readAnswer);
  await act(() => untilSampled(service, FIRST_TOKENS, (count) => count > before));
  const answer = await answering;
  const books = await untilEnded(service, address, 1);
  await service.expectConserved();
  return { ...answer, books };
}

/** More than any Retry-After here, and soon enough for the next health check. */
const BUSY_MS = 10_000;
const LIFE_MS = 200;
const THOUGHT = JSON.stringify({ choices: [{ index: 0, delta: { reasoning_content: 'Hm.' } }] });

/** What a client gets, as its status and the code of its error. */
interface Outcome {
  plain: [status: number, code?: string];
  stream: [status: number, code?: string];
  charge: bigint;
  /** Where a text's tokens are bounded in place of counted. */
  chargeMax?: bigint;
  maxTokens?: number;
  /** Seconds by which the ledger's clock has to move until there is an answer. */
  clockSeconds?: number[];
}

const REFUSED: Outcome = {
  plain: [500, 'worker_failed'],
  stream: [500, 'worker_failed'],
  charge: 0n,
};
const BROKEN: Outcome = { ...REFUSED, stream: [200, 'worker_failed'] };
const BUSY: Outcome = {
  plain: [503, 'no_workers_available'],
  stream: [503, 'no_workers_available'],
  charge: 0n,
};
const OVERDUE: Outcome = {
  plain: [504, 'job_timeout'],
  stream: [504, 'job_timeout'],
  charge: 0n,
  clockSeconds: [STOPPED_SECONDS, 10, 10],
};

/** Cut off at the token limit, for the price of the limit. */
const ENDLESS: Outcome = { plain: [200], stream: [200], charge: 12n, maxTokens: 3_000 };

type Fault =
  // Many, each of which has a test of the worker's own.
  | Exclude<UpstreamFault, 'breaks in a dialect'>
  | 'refuses the connection'
  | 'has a name that does not resolve'
  | 'hangs in its TLS handshake'
  | 'sends long deltas without end';

const OUTCOMES: Record<Fault, Outcome> = {
  'refuses the connection': REFUSED,
  'has a name that does not resolve': REFUSED,
  'hangs in its TLS handshake': OVERDUE,
  'sends no headers': OVERDUE,
  'answers 401': REFUSED,
  'answers 404': REFUSED,
  'answers 422': {
    plain: [400, 'invalid_request'],
    stream: [400, 'invalid_request'],
    charge: 0n,
  },
  'answers 429': BUSY,
  'answers 429 with Retry-After': BUSY,
  'answers 500': REFUSED,
  'answers 503': BUSY,
  'answers with HTML': REFUSED,
  'breaks its events': BROKEN,
  'cuts its answer': BROKEN,
  'hangs after a word': BROKEN,
  'answers nothing': REFUSED,
  'sends an error in its stream': BROKEN,
  'has an error in its choice': BROKEN,
  'ends with a broken reason': BROKEN,
  'gives no reason': BROKEN,
  'writes behind its end': BROKEN,
  'does not end': ENDLESS,
  'sends long deltas without end': ENDLESS,
  // For a thousand tokens, which it says are five thousand: those would cost 20 credits.
  'counts five times': { plain: [200], stream: [200], charge: 4n, chargeMax: 8n },
};

/** Accepts connections and never says a word to anything it is sent. */
let silent: Server;
const sockets = new Set<Socket>();

beforeAll(async () => {
  silent = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
});

afterAll(() => {
  for (const socket of sockets) socket.destroy();
  silent?.close();
});

function engineFor(fault: Fault): Engine {
  const { port } = silent.address() as AddressInfo;
  switch (fault) {
    case 'refuses the connection':
      return createUpstreamEngine({ url: 'http://127.0.0.1:9/v1' });
    case 'has a name that does not resolve':
      return createUpstreamEngine({ url: 'http://upstream.invalid/v1' });
    case 'hangs in its TLS handshake':
      return createUpstreamEngine({ url: `https://127.0.0.1:${port}/v1` });
    case 'sends long deltas without end':
      upstream.answerWith(async (reply) => {
        const closed = reply.closed.then(() => true);
        const paused = () => new Promise<false>((resolve) => setImmediate(resolve, false));
        do reply.text('word '.repeat(20_000));
        while (!(await Promise.race([closed, paused()])));
      });
      return createUpstreamEngine({ url: upstream.url });
    default:
      upstream.answerWith((reply) => playUpstreamFault(fault, reply, random));
      return createUpstreamEngine({ url: upstream.url });
  }
}

/** Completes with an upstream that has this fault. */
async function completeWith(fault: Fault, form: Form, faulty = engineFor(fault)) {
  const { clockSeconds, maxTokens = 10_000, [form]: expected } = OUTCOMES[fault];
  engine.use(faulty);
  const answer = await complete(form, { max_tokens: maxTokens }, async (untilBegun) => {
    if (fault === 'hangs after a word') {
      await untilBegun();
      service.time.advance(TOO_LONG_MS);
    }
    if (!clockSeconds) return;
    await until(async () => (await service.workers[0]?.inFlight()) === 1);
    for (const seconds of clockSeconds) await service.advanceSeconds(seconds);
  });
  // Until then the worker calls itself busy.
  if (expected[0] === 503) service.time.advance(BUSY_MS);
  const { status, error } = answer;
  return { ...answer, received: [status, ...(error ? [error.code] : [])] };
}

describe('an upstream that', () => {
  const faults = Object.keys(OUTCOMES) as Fault[];

  it('has every fault that the seeded faults draw', () => {
    const drawn = Object.keys(UPSTREAM_FAULTS).filter((name) => name !== 'breaks in a dialect');
    expect(faults).toEqual(expect.arrayContaining(drawn));
    expect(faults).toHaveLength(24);
  });

  describe.each(['plain', 'stream'] as const)('%s', (form) => {
    it.each(faults)('%s is charged for what was proven alone', async (fault) => {
      const { charge, chargeMax = charge, [form]: expected } = OUTCOMES[fault];
      const { received, books, headers, body } = await completeWith(fault, form);
      expect(received).toEqual(expected);
      expect(books.locked).toBe(0n);
      expect(books.available).toBeLessThanOrEqual(CREDITS - charge);
      expect(books.available).toBeGreaterThanOrEqual(CREDITS - chargeMax);
      if (expected[0] === 503) expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      if (fault === 'does not end') expect(body).toContain('"finish_reason":"length"');
    });
  });

  it('names a time has it passed on as Retry-After', async () => {
    upstream.answerWith((reply) => {
      reply.head(429, { 'retry-after': '7' });
      reply.end();
    });
    const faulty = createUpstreamEngine({ url: upstream.url });
    const { headers } = await completeWith('answers 429 with Retry-After', 'plain', faulty);
    expect(headers['retry-after']).toBe('7');
  });
});

/** Thinks aloud, which is no content, until the worker leaves. */
async function think(reply: Reply): Promise<void> {
  const thinking = setInterval(() => reply.raw(THOUGHT), LIFE_MS);
  await reply.closed;
  clearInterval(thinking);
}

function finishChunk(body: string) {
  const chunks = body.split('\n').filter((line) => line.startsWith('data: {'));
  return JSON.parse(chunks.at(-1)?.replace('data: ', '') ?? 'null');
}

describe.each(FORMS)('15 s before the deadline, a %s answer', (form) => {
  beforeAll(() => engine.use(createUpstreamEngine({ url: upstream.url })));

  it('is stopped, proven, paid and marked when it has text and still thinks', async () => {
    upstream.answerWith(async (reply) => {
      reply.text('Hello');
      await think(reply);
    });
    const answer = await complete(form, {}, async (untilBegun) => {
      await untilBegun();
      await service.advanceSeconds(STOPPED_SECONDS);
    });
    expect(answer.status).toBe(200);
    if (form === 'stream') {
      expect(finishChunk(answer.body)).toMatchObject({
        choices: [{ finish_reason: 'length' }],
        svc: { truncated: 'deadline' },
      });
      expect(answer.body).toMatch(/data: \[DONE\]\n\n$/);
    } else {
      expect(JSON.parse(answer.body).choices[0]).toMatchObject({
        finish_reason: 'length',
        message: { content: 'Hello' },
      });
      expect(answer.headers['x-svc-truncated']).toBe('deadline');
    }
    expect(answer.books).toEqual({
      ...{ available: CREDITS - 8n, locked: 0n },
      jobs: [{ status: 'settled', reason: 'none', charged: 8n }],
    });
  });

  it('fails without a charge when its model only thinks for its last 20 s', async () => {
    let thoughts = 0;
    upstream.answerWith(async (reply) => {
      reply.text('Hello');
      const thinking = setInterval(() => {
        reply.raw(THOUGHT);
        thoughts += 1;
      }, LIFE_MS);
      await reply.closed;
      clearInterval(thinking);
    });
    const answer = await complete(form, {}, async (untilBegun) => {
      await untilBegun();
      for (let pause = 0; pause < 2; pause += 1) {
        service.time.advance(PAUSE_MS);
        const before = thoughts;
        // So that it is not silent: what came last has reached the API.
        await until(async () => thoughts > before + 1);
      }
      await service.advanceSeconds(STOPPED_SECONDS);
    });
    expect(answer.status).toBe(form === 'stream' ? 200 : 500);
    expect(answer.error).toMatchObject({ code: 'worker_failed', type: 'server_error' });
    expect(answer.body).not.toContain('[DONE]');
    expect(answer.books).toEqual({
      ...{ available: CREDITS, locked: 0n },
      jobs: [{ status: 'failed', reason: 'worker_error', charged: 0n }],
    });
  });

  it('runs on to its deadline without content, and is refunded', async () => {
    upstream.answerWith(think);
    const answer = await complete(form, {}, async (untilBegun) => {
      await untilBegun();
      await service.advanceSeconds(STOPPED_SECONDS);
      await service.advanceSeconds(10);
      await service.advanceSeconds(10);
    });
    // What it thinks begins a stream.
    expect(answer.status).toBe(form === 'stream' ? 200 : 504);
    expect(answer.error).toMatchObject({
      ...{ code: 'job_timeout', type: 'timeout_error' },
      details: { credits_refunded: 8, refund_tx: expect.any(String) },
    });
    expect(answer.books).toEqual({
      ...{ available: CREDITS, locked: 0n },
      jobs: [{ status: 'refunded', reason: 'none', charged: 0n }],
    });
  });
});

describe.each(FORMS)('while every upstream answers 429, a %s request', (form) => {
  let wallet: Awaited<ReturnType<RunningService['addWallet']>>;

  beforeAll(async () => {
    engine.use(createUpstreamEngine({ url: upstream.url }));
    while (upstreams.length < 3) {
      const another = await startUpstream();
      upstreams.push(another);
      await service.addWorker(createUpstreamEngine({ url: another.url }));
    }
  });

  beforeEach(async () => {
    wallet = await service.addWallet(CREDITS);
    for (const { requests } of upstreams) requests.length = 0;
    // None of them is busy any more.
    service.time.advance(60_000);
    const shown = () => service.get(`/v1/models/${service.model.id}`);
    await service.untilShown(async () => (await shown()).svc.active_workers === 3);
  });

  /** Has each upstream answer 429 with a Retry-After. */
  function beBusy(...retryAfter: [string, string, string]): void {
    for (const [at, seconds] of retryAfter.entries()) {
      upstreams[at]?.answerWith((reply) => {
        reply.head(429, { 'retry-after': seconds });
        reply.end();
      });
    }
  }

  const ask = () => requestCompletion(service, { form, apiKey: wallet.apiKey });
  const asked = () => upstreams.map(({ requests }) => requests.length);

  it('gets 503 with the least Retry-After, and the next one locks nothing', async () => {
    beBusy('45', '30', '59');
    const startedMs = service.time.nowMs();
    const first = await ask();
    expect(first.status).toBe(503);
    expect(first.headers['retry-after']).toBe('30');
    expect(first.error).toMatchObject({
      code: 'no_workers_available',
      details: { retry_after: 30, job_id: first.headers['x-svc-job-id'] },
    });
    expect(asked()).toEqual([1, 1, 1]);

    const next = await service.time.advanceUntil(ask(), 100);
    expect(next.status).toBe(503);
    expect(next.error).toMatchObject({ code: 'no_workers_available' });
    expect(next.headers['x-svc-job-id']).toBeUndefined();
    const seconds = Number(next.headers['retry-after']);
    const passedSeconds = (service.time.nowMs() - startedMs) / 1_000;
    expect(seconds).toBeGreaterThanOrEqual(30 - passedSeconds);
    expect(seconds).toBeLessThanOrEqual(30);
    expect(next.error?.details).toMatchObject({ retry_after: seconds });
    expect(asked()).toEqual([1, 1, 1]);

    expect(await readBooks(service, wallet.address)).toMatchObject({
      ...{ available: CREDITS, locked: 0n, jobs: [{ status: 'failed' }] },
    });
  });

  it.each([
    ['3600', 60],
    ['0', 1],
  ])('names 1 to 60 s where the upstream names %s', async (named, expected) => {
    beBusy(named, named, named);
    const { headers, error } = await ask();
    expect(headers['retry-after']).toBe(String(expected));
    expect(error?.details).toMatchObject({ retry_after: expected });
  });
});
