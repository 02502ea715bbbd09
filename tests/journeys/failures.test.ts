import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import { boundTokens } from '../../common/tokenizers/tokenCounts.ts';
import { delay } from '../../common/wait.ts';
import { chargeCredits } from '../../programs/client/pricing.ts';
import { REFUNDABLE_SECONDS, STOPPED_SECONDS } from '../../testing/ledger/deadlines.ts';
import {
  ofWallet,
  readBooks,
  untilDispatched,
  untilEnded,
  untilLocked,
} from '../../testing/ledger/walletBooks.ts';
import { type GatedService, startGatedService } from '../../testing/service/gatedService.ts';
import {
  type Form,
  openCompletion,
  ROUTED_FORMS,
  ROUTES,
  readAnswer,
  requestCompletion,
} from '../../testing/service/requestCompletion.ts';
import { until } from '../../testing/until.ts';
import { answerInTwoParts } from '../../testing/workers/engines.ts';
import type { WorkerMode } from '../../testing/workers/misbehavingWorker.ts';

const CREDITS = 1_000n;
const KEEP_ALIVE = ': keep-alive\n\n';
const KEEP_ALIVE_MS = 10_000;
/** Everything but intervals goes on by real time. */
const REAL_TIMERS = [
  ...(['Date', 'hrtime', 'performance', 'nextTick', 'queueMicrotask'] as const),
  ...(['setImmediate', 'clearImmediate', 'setTimeout', 'clearTimeout'] as const),
];
const SETTLED = { status: 'settled', reason: 'none', charged: 8n };
const REFUNDED = { status: 'refunded', reason: 'none', charged: 0n };

let service: GatedService;
/** Of one test: what is charged is counted for its wallet. */
let wallet: Awaited<ReturnType<GatedService['addWallet']>>;

beforeAll(async () => {
  service = await startGatedService({ SVC_ACKNOWLEDGEMENT_LINGER_MS: '50' });
});

beforeEach(async () => {
  wallet = await service.addWallet(CREDITS);
  service.engine.play(() => words(50));
});

afterEach(() => {
  jest.useRealTimers();
  service.ledgerGate.open();
  work('honest');
});

afterAll(() => service?.close());

async function* words(count: number): AsyncGenerator<string> {
  for (let word = 0; word < count; word += 1) yield `word ${word} `;
}

async function* endless(signal: AbortSignal): AsyncGenerator<string> {
  for (;;) {
    yield 'again ';
    await delay(10, signal);
    signal.throwIfAborted();
  }
}

/** What the only worker does from now on. */
const work = (mode: WorkerMode) => service.workers[0]?.setMode(mode);

/** The wallet's credits and jobs, once it has so many and all have ended. */
async function endedBooks(jobs = 1) {
  const books = await untilEnded(service, wallet.address, jobs);
  await service.expectConserved();
  return books;
}

const ofJobs = (available: bigint, ...jobs: object[]) => ({ available, locked: 0n, jobs });

async function keptAnswers(): Promise<number> {
  const { rows } = await service.pool.query(
    `select count(*)::int as answers
     from service.answer_copies join service.idempotent_requests using (job_id) where wallet = $1`,
    [wallet.address.toBase58()],
  );
  return rows[0].answers;
}

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

describe.each(ROUTED_FORMS)('a %s answer of %s', (form, route) => {
  const open = (body = {}) => openCompletion(service, { form, route, apiKey: wallet.apiKey, body });
  const ask = async (body = {}) => readAnswer(await open(body));

  it('ends as job_timeout and is refunded when its worker never answers [failures.timeout] [errors.job-headers]', async () => {
    work('never_answers');
    const asking = ask();
    await untilDispatched(service, wallet.address, 1);
    await service.advanceSeconds(REFUNDABLE_SECONDS);
    const { status, headers, error } = await asking;
    // It is safe to retry.
    expect([status, headers['x-should-retry']]).toEqual([504, undefined]);
    const [job] = await service.get('/v1/jobs', wallet.apiKey).then(({ data }) => data);
    expect(headers).toMatchObject({
      ...{ 'x-svc-job-id': job.id, 'x-svc-tx-signature': job.on_chain.escrow_tx },
    });
    expect(headers['x-svc-worker']).toBeUndefined();
    expect(error).toMatchObject({
      ...{ code: 'job_timeout', type: 'timeout_error' },
      details: { job_id: job.id, credits_refunded: 8, refund_tx: job.on_chain.refund_tx },
    });
    expect(job).toMatchObject({ status: 'refunded', failure_reason: null, credits_charged: 0 });
    expect(await endedBooks()).toEqual(ofJobs(CREDITS, REFUNDED));
  });

  it('is refunded when its worker does not answer the stop, despite its text', async () => {
    const ending = Promise.withResolvers<void>();
    const [spoken, stopped] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    service.engine.play(async function* (signal) {
      signal.addEventListener('abort', () => stopped.resolve());
      yield 'Hello';
      spoken.resolve();
      await ending.promise;
    });
    const asking = open();
    await spoken.promise;
    await untilDispatched(service, wallet.address, 1);
    await service.advanceSeconds(STOPPED_SECONDS);
    await stopped.promise;
    await service.advanceSeconds(16);
    const { status, body, error } = await readAnswer(await asking);
    ending.resolve();
    expect(status).toBe(form === 'stream' ? 200 : 504);
    expect(body).not.toMatch('[DONE]');
    expect(error).toMatchObject({
      code: 'job_timeout',
      details: { credits_refunded: 8, refund_tx: expect.any(String) },
    });
    expect(await endedBooks()).toEqual(ofJobs(CREDITS, REFUNDED));
  });

  it.each([
    ['dies_midstream', 'worker_error'],
    ['wrong_hash', 'output_mismatch'],
    ['forged_signature', 'proof_invalid'],
    ['another_request', 'proof_invalid'],
    ['no_proof', 'proof_missing'],
    ['empty_output', 'empty_output'],
  ] as const)(
    'costs nothing when its worker misbehaves: %s [completions.stream-error] [failures.worker-failed]',
    async (behaviour, reason) => {
      work(behaviour);
      const { error, finishReason } = await ask();
      expect(error).toMatchObject({ code: 'worker_failed', type: 'server_error' });
      expect(finishReason).toBeNull();
      expect(await endedBooks()).toEqual(
        ofJobs(CREDITS, { status: 'failed', reason, charged: 0n }),
      );
      const { data } = await service.get('/v1/jobs', wallet.apiKey);
      expect(data).toMatchObject([{ status: 'failed', failure_reason: reason }]);
      // What was not proven is kept for no repeat.
      await until(async () => (await keptAnswers()) === 0);
    },
  );

  it('is charged for the lower count when its worker claims more tokens [charging.lower-count]', async () => {
    work('inflates_count');
    service.engine.play(() => words(250));
    const { text, completionTokens } = await ask({ max_tokens: 100_000 });
    // There is no tokenizer.
    const bound = boundTokens(text);
    expect(completionTokens).toBe(bound);
    const charged = chargeCredits(service.model, bound, 400n);
    expect(charged).toBeLessThan(chargeCredits(service.model, 10 * bound, 400n));
    expect(await endedBooks()).toEqual(ofJobs(CREDITS - charged, { ...SETTLED, charged }));
  });

  it('is stopped before its deadline, ends with length and is paid [failures.long-answer]', async () => {
    service.engine.play(endless);
    const asking = open({ max_tokens: 5_000 });
    await untilDispatched(service, wallet.address, 1);
    if (form === 'stream') await once(await asking, 'readable');
    await service.advanceSeconds(STOPPED_SECONDS);
    const { headers, ...answer } = await readAnswer(await asking);
    expect(answer).toMatchObject({ status: 200, finishReason: 'length', isTruncated: true });
    if (form === 'plain') expect(headers['x-svc-truncated']).toBe('deadline');
    const { jobs, available } = await endedBooks();
    const [job] = ofWallet(await service.jobs(), wallet.address);
    const { completionTokens = 0, countedTokens = 0 } = job?.data ?? {};
    const tokens = Math.min(completionTokens, countedTokens);
    expect(tokens).toBeLessThan(5_000);
    expect(answer.completionTokens).toBe(tokens);
    const charged = chargeCredits(service.model, tokens, 20n);
    expect({ available, jobs }).toEqual({
      ...{ available: CREDITS - charged, jobs: [{ ...SETTLED, charged }] },
    });
  });
});

describe('a request whose API process is killed after the lock', () => {
  it('is refunded by the keeper [failures.process-dies]', async () => {
    work('never_answers');
    const { url: baseUrl, kill } = await service.startApiProcess();
    const asking = requestCompletion(
      { ...service, baseUrl },
      { form: 'plain', apiKey: wallet.apiKey },
    );
    const broken = expect(asking).rejects.toThrow();
    await untilLocked(service, wallet.address, 1);
    await kill();
    await broken;
    expect((await readBooks(service, wallet.address)).locked).toBe(8n);
    await service.advanceSeconds(REFUNDABLE_SECONDS);
    expect(await endedBooks()).toEqual(ofJobs(CREDITS, REFUNDED));
  });
});

describe.each(ROUTES)('a client of %s that disconnects', (route) => {
  const open = (
    form: Form,
    others: { body?: Record<string, unknown>; signal?: AbortSignal } = {},
  ) => openCompletion(service, { form, route, apiKey: wallet.apiKey, ...others });

  it('is not charged before a plain answer began [failures.client-left-plain]', async () => {
    service.engine.play(endless);
    const leaving = new AbortController();
    const left = expect(open('plain', { signal: leaving.signal })).rejects.toThrow('aborted');
    await untilLocked(service, wallet.address, 1);
    leaving.abort();
    await left;
    const gone = { status: 'failed', reason: 'client_gone', charged: 0n };
    expect(await endedBooks()).toEqual(ofJobs(CREDITS, gone));
  });

  it('during a stream is charged for what was produced [failures.client-left-stream]', async () => {
    service.engine.play(endless);
    const response = await open('stream', { body: { max_tokens: 10_000 } });
    await once(response, 'data');
    expect(await readBooks(service, wallet.address)).toMatchObject({ locked: 40n });
    response.destroy();
    expect(await endedBooks()).toEqual(ofJobs(CREDITS - 8n, SETTLED));
  });

  it('at the end of a stream has it settled', async () => {
    const end = answerInTwoParts(service.engine);
    const response = await open('stream');
    const received = collect(response);
    await untilDispatched(service, wallet.address, 1);
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
    await service.get('/v1/account', wallet.apiKey);
    going.resolve();
    expect(await endedBooks()).toEqual(ofJobs(CREDITS - 8n, SETTLED));
  });
});

describe('a stream', () => {
  it('carries a comment after ten seconds of silence, but none during text [completions.stream-keep-alive]', async () => {
    const cues = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
    service.engine.play(async function* () {
      yield 'text ';
      for (const { promise } of cues) {
        await promise;
        yield 'more ';
      }
    });
    jest.useFakeTimers({ doNotFake: [...REAL_TIMERS] });
    const response = await openCompletion(service, { form: 'stream', apiKey: wallet.apiKey });
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

  it('of responses has few items, however often its worker changes their kind', async () => {
    service.engine.play(async function* () {
      for (let change = 0; change < 500; change += 1) {
        yield { type: 'reasoning', text: 'Hm.' };
        yield `word ${change} `;
      }
    });
    const asked = { form: 'stream', route: 'responses', apiKey: wallet.apiKey } as const;
    const { text, reasoning, body, error } = await requestCompletion(service, asked);
    expect([text, reasoning, error]).toEqual([
      Array.from({ length: 500 }, (_, change) => `word ${change} `).join(''),
      'Hm.'.repeat(500),
      undefined,
    ]);
    expect(body.match(/^event: response.output_item.added$/gm)).toHaveLength(129);
  });

  it.each(ROUTES)(
    'of %s is completed for a client that reads nothing, and read later [completions.slow-reader]',
    async (route) => {
      service.engine.play(() => words(20_000));
      const body = { max_tokens: 30_000 };
      const asked = { form: 'stream', route, apiKey: wallet.apiKey, body } as const;
      const response = await openCompletion(service, asked);
      // The text has more tokens than the limit of 30,000, which therefore is what is charged.
      expect(await endedBooks()).toEqual(ofJobs(CREDITS - 120n, { ...SETTLED, charged: 120n }));
      const readBefore = response.socket.bytesRead;
      const answer = await readAnswer(response);
      // What the client had not taken by then was the greater part.
      expect(readBefore).toBeLessThan(answer.body.length / 2);
      const { text } = answer;
      expect(text.split('word ')).toHaveLength(20_001);
      const hash = createHash('sha256').update(text).digest('hex');
      expect(answer.trailers['x-svc-output-hash']).toBe(`sha256:${hash}`);
    },
  );
});
