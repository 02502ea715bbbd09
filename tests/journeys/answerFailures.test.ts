import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { answerCharactersMax } from '../../common/tokenizers/tokenCounts.ts';
import { REFUNDABLE_SECONDS, STOPPED_SECONDS } from '../../testing/ledger/deadlines.ts';
import { accepted } from '../../testing/ledger/interceptedConnection.ts';
import {
  readBooks,
  untilDispatched,
  untilEnded,
  untilLocked,
} from '../../testing/ledger/walletBooks.ts';
import { type GatedService, startGatedService } from '../../testing/service/gatedService.ts';
import {
  type Answer,
  FORMS,
  openCompletion,
  readAnswer,
  requestCompletion,
} from '../../testing/service/requestCompletion.ts';
import { until } from '../../testing/until.ts';
import { answerInTwoParts } from '../../testing/workers/engines.ts';

const CREDITS = 1_000n;
const KEEP_ALIVE = ': keep-alive\n\n';
const KEEP_ALIVE_MS = 10_000;
/** Everything but intervals goes on by real time. */
const REAL_TIMERS = [
  ...(['Date', 'hrtime', 'performance', 'nextTick', 'queueMicrotask'] as const),
  ...(['setImmediate', 'clearImmediate', 'setTimeout', 'clearTimeout'] as const),
];

let service: GatedService;

beforeAll(async () => {
  service = await startGatedService({}, { indexer: 'process' });
});

afterEach(() => {
  jest.useRealTimers();
  service.ledgerGate.open();
  service.indexer.signal('SIGCONT');
});

afterAll(() => service?.close());

/** The text that a stream has brought so far. */
function collect(response: IncomingMessage): () => string {
  let received = '';
  response.setEncoding('utf8').on('data', (piece) => {
    received += piece;
  });
  return () => received;
}

function textOf(body: string): string {
  const chunks = body.split('\n\n').filter((event) => event.startsWith('data: {'));
  return chunks
    .map((event) => JSON.parse(event.slice('data: '.length)).choices[0]?.delta.content ?? '')
    .join('');
}

describe('a stream', () => {
  it('carries a comment after ten seconds of silence, but none during text [completions.stream-keep-alive]', async () => {
    const { apiKey } = await service.addWallet(CREDITS);
    const cues = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
    service.engine.play(async function* () {
      yield 'text ';
      for (const { promise } of cues) {
        await promise;
        yield 'more ';
      }
    });
    jest.useFakeTimers({ doNotFake: [...REAL_TIMERS] });
    const response = await openCompletion(service, { form: 'stream', apiKey });
    const received = collect(response);
    const untilMore = (times: number) =>
      until(async () => received().split('more ').length === times + 1);
    await until(async () => received().includes('text '));
    jest.advanceTimersByTime(KEEP_ALIVE_MS - 1);
    cues[0]?.resolve();
    await untilMore(1);
    jest.advanceTimersByTime(KEEP_ALIVE_MS - 1);
    cues[1]?.resolve();
    await untilMore(2);
    jest.advanceTimersByTime(KEEP_ALIVE_MS);
    jest.advanceTimersByTime(KEEP_ALIVE_MS);
    await until(async () => received().split(KEEP_ALIVE).length === 3);
    cues[2]?.resolve();
    await once(response, 'end');
    const [before, between, after] = received().split(KEEP_ALIVE) as [string, string, string];
    expect([textOf(before), between, textOf(after)]).toEqual(['text more more ', '', 'more ']);
    expect(after).toMatch(/data: \[DONE\]\n\n$/);
  });

  it('is completed for a client that reads nothing, and read later [completions.slow-reader]', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    const words = Array.from({ length: 20_000 }, (_, index) => `word ${index} `);
    service.engine.play(async function* () {
      yield* words;
    });
    const body = { max_tokens: 30_000 };
    const response = await openCompletion(service, { form: 'stream', apiKey, body });
    const books = await untilEnded(service, address, 1);
    expect(books).toEqual({
      ...{ available: CREDITS - 120n, locked: 0n },
      // The text has more tokens than the limit of 30,000, which therefore is what is charged.
      jobs: [{ status: 'settled', reason: 'none', charged: 120n }],
    });
    const readBefore = response.socket.bytesRead;
    const answer = await readAnswer(response);
    // What the client had not taken by then was the greater part.
    expect(readBefore).toBeLessThan(answer.body.length / 2);
    expect(textOf(answer.body)).toBe(words.join(''));
    const hash = createHash('sha256').update(words.join('')).digest('hex');
    expect(answer.trailers['x-svc-output-hash']).toBe(`sha256:${hash}`);
  });

  it('is not charged when its client leaves before the first content', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    service.engine.play(silence);
    const leaving = new AbortController();
    const asking = fetch(`${service.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ model: service.model.id, stream: true },
        messages: [{ role: 'user', content: 'Say hello.' }],
      }),
      signal: leaving.signal,
    });
    const left = expect(asking).rejects.toThrow();
    await untilLocked(service, address, 1);
    leaving.abort();
    await left;
    expect(await untilEnded(service, address, 1)).toEqual({
      ...{ available: CREDITS, locked: 0n },
      jobs: [{ status: 'failed', reason: 'client_gone', charged: 0n }],
    });
  });

  it('is stopped when its client leaves, and charged for what was produced', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    const stopped = Promise.withResolvers<void>();
    service.engine.play(async function* (signal) {
      yield 'Hello';
      await once(signal, 'abort');
      stopped.resolve();
      signal.throwIfAborted();
    });
    const body = { max_tokens: 10_000 };
    const response = await openCompletion(service, { form: 'stream', apiKey, body });
    await once(response, 'data');
    expect(await readBooks(service, address)).toMatchObject({ locked: 40n });
    response.destroy();
    await stopped.promise;
    expect(await untilEnded(service, address, 1)).toEqual({
      ...{ available: CREDITS - 8n, locked: 0n },
      jobs: [{ status: 'settled', reason: 'none', charged: 8n }],
    });
    await service.expectConserved();
  });

  it('is still settled when its client resets the connection at its end', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    const end = answerInTwoParts(service.engine);
    const response = await openCompletion(service, { form: 'stream', apiKey });
    const received = collect(response);
    await untilDispatched(service, address, 1);
    await service.untilMirrored();
    const going = Promise.withResolvers<void>();
    service.ledgerGate.intercept(async (request, forward) => {
      if (request.method === 'sendTransaction') await going.promise;
      return forward(request);
    });
    end();
    await until(async () => received().includes('[DONE]'));
    response.socket.resetAndDestroy();
    // An API that answers what was asked after the reset has heard of it.
    expect(await service.get('/v1/account', apiKey)).toMatchObject({ credits_remaining: 992 });
    going.resolve();
    expect(await untilEnded(service, address, 1)).toEqual({
      ...{ available: CREDITS - 8n, locked: 0n },
      jobs: [{ status: 'settled', reason: 'none', charged: 8n }],
    });
  });

  it('is refunded when its API process is killed during it', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    service.engine.play(async function* (signal) {
      yield 'Hello';
      yield* silence(signal);
    });
    const api = await service.startApiProcess();
    const process = { ...service, baseUrl: api.url };
    const response = await openCompletion(process, { form: 'stream', apiKey });
    const broken = expect(readAnswer(response)).rejects.toThrow();
    await api.kill();
    await broken;
    expect(await readBooks(service, address)).toMatchObject({ locked: 8n });
    await service.advanceSeconds(REFUNDABLE_SECONDS);
    expect(await untilEnded(service, address, 1)).toEqual({
      ...{ available: CREDITS, locked: 0n },
      jobs: [{ status: 'refunded', reason: 'none', charged: 0n }],
    });
  });
});

describe('a completion, plain and streamed,', () => {
  const refunded = { status: 'refunded', reason: 'none', charged: 0n };

  function expectTimeout({ status, error }: Answer, refundTx: unknown): void {
    expect([200, 504]).toContain(status);
    expect(error).toMatchObject({
      ...{ code: 'job_timeout', type: 'timeout_error' },
      details: { credits_refunded: 8, refund_tx: refundTx },
    });
  }

  it('is refunded when its worker does not answer the stop, despite its text', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    const { answers, stopped, end } = await askOfDeafWorker(apiKey);
    await untilDispatched(service, address, FORMS.length);
    await service.advanceSeconds(STOPPED_SECONDS);
    await until(async () => stopped() === FORMS.length);
    await service.advanceSeconds(16);
    const [plain, stream] = (await answers) as [Answer, Answer];
    end();
    expect([plain.status, stream.status]).toEqual([504, 200]);
    expect(stream.body).not.toMatch('[DONE]');
    for (const answer of [plain, stream]) expectTimeout(answer, expect.any(String));
    expect(await untilEnded(service, address, FORMS.length)).toEqual({
      ...{ available: CREDITS, locked: 0n },
      jobs: [refunded, refunded],
    });
    await service.expectConserved();
  });

  it('reports the keeper’s refund when that comes first', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    service.engine.play(silence);
    const asking = FORMS.map((form) => requestCompletion(service, { form, apiKey }));
    await untilDispatched(service, address, FORMS.length);
    service.ledgerGate.intercept(async (request, forward) => {
      if (request.method === 'sendTransaction') await untilEnded(service, address, FORMS.length);
      return forward(request);
    });
    await service.advanceSeconds(REFUNDABLE_SECONDS);
    const answers = await Promise.all(asking);
    const { data: jobs } = await service.get('/v1/jobs', apiKey);
    for (const answer of answers) {
      const jobId = answer.headers['x-svc-job-id'];
      const job = jobs.find(({ id }: { id: string }) => id === jobId);
      expect(job).toMatchObject({
        status: 'refunded',
        on_chain: { refund_tx: expect.any(String) },
      });
      expectTimeout(answer, job.on_chain.refund_tx);
    }
    expect(await readBooks(service, address)).toEqual({
      ...{ available: CREDITS, locked: 0n },
      jobs: [refunded, refunded],
    });
  });

  it('reports a time-out after 15 s without confirmation, and is refunded', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    const { answers, end } = await askOfDeafWorker(apiKey);
    await untilDispatched(service, address, FORMS.length);
    service.ledgerGate.intercept((request, forward) =>
      request.method === 'sendTransaction' ? Promise.resolve(accepted(request)) : forward(request),
    );
    service.indexer.signal('SIGSTOP');
    await service.advanceSeconds(122);
    for (const answer of await service.time.advanceUntil(answers)) expectTimeout(answer, null);
    end();
    expect(await readBooks(service, address)).toMatchObject({ locked: 16n });
    service.indexer.signal('SIGCONT');
    expect(await untilEnded(service, address, FORMS.length)).toEqual({
      ...{ available: CREDITS, locked: 0n },
      jobs: [refunded, refunded],
    });
  });

  it('is cut off at its token limit, and paid, when the model sends more', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    service.engine.play(async function* () {
      yield 'x'.repeat(200_000);
    });
    const longest = 'x'.repeat(answerCharactersMax(10));
    for (const form of FORMS) {
      const body = { max_tokens: 10 };
      const answer = await requestCompletion(service, { form, apiKey, body });
      expect(answer.status).toBe(200);
      expect(answer.body).toContain('"finish_reason":"length"');
      expect(answer.body.match(/x{100,}/g)).toEqual([longest]);
    }
    const settled = { status: 'settled', reason: 'none', charged: 8n };
    expect(await untilEnded(service, address, FORMS.length)).toEqual({
      ...{ available: CREDITS - 16n, locked: 0n },
      jobs: [settled, settled],
    });
  });
});

describe('an official client with automatic retries', () => {
  it('retries after a time-out: the first job is refunded, the other charged', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    let asked = 0;
    service.engine.play(async function* (signal) {
      asked += 1;
      if (asked === 1) yield* silence(signal);
      yield 'answered';
    });
    const asking = service.openai({ apiKey, maxRetries: 2 }).chat.completions.create({
      model: service.model.id,
      messages: [{ role: 'user', content: 'Say hello.' }],
    });
    await untilDispatched(service, address, 1);
    await service.advanceSeconds(REFUNDABLE_SECONDS);
    const { choices } = await asking;
    expect(choices[0]?.message.content).toBe('answered');
    const books = await untilEnded(service, address, 2);
    expect(books).toMatchObject({ available: CREDITS - 8n, locked: 0n });
    expect(books.jobs).toEqual(
      expect.arrayContaining([
        { status: 'refunded', reason: 'none', charged: 0n },
        { status: 'settled', reason: 'none', charged: 8n },
      ]),
    );
  });
});

/** Says nothing until it is stopped. */
// biome-ignore lint/correctness/useYield: an engine is a generator, also one that says nothing
async function* silence(signal: AbortSignal): AsyncGenerator<string> {
  if (!signal.aborted) await once(signal, 'abort');
  signal.throwIfAborted();
}

/** Has a worker say a word and then ignore every request to stop. */
async function askOfDeafWorker(apiKey: string) {
  const ending = Promise.withResolvers<void>();
  let stopped = 0;
  let spoken = 0;
  service.engine.play(async function* (signal) {
    signal.addEventListener('abort', () => {
      stopped += 1;
    });
    yield 'Hello';
    spoken += 1;
    await ending.promise;
  });
  const asking = FORMS.map((form) => openCompletion(service, { form, apiKey }));
  const answers = Promise.all(asking.map(async (response) => readAnswer(await response)));
  await asking[FORMS.indexOf('stream')];
  // No client sees a plain answer's text yet, but the worker goes on once it was sent.
  await until(async () => spoken === FORMS.length);
  return { answers, stopped: () => stopped, end: ending.resolve };
}
