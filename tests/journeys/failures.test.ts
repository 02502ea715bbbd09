import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import { APIError } from 'openai';
import { boundTokens } from '../../common/tokenizers/tokenCounts.ts';
import type { JobStatus } from '../../programs/client/generated/vocabulary.ts';
import { chargeCredits } from '../../programs/client/pricing.ts';
import { REFUNDABLE_SECONDS, STOPPED_SECONDS } from '../../testing/ledger/deadlines.ts';
import {
  ofWallet,
  readBooks,
  untilDispatched,
  untilLocked,
} from '../../testing/ledger/walletBooks.ts';
import {
  type RunningService,
  startRunningService,
  type WorkerBehaviour,
} from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import type { WorkerMode } from '../../testing/workers/misbehavingWorker.ts';
import type { Engine } from '../../worker/engine/engine.ts';
import { WorkerError } from '../../worker/protocol/errors.ts';

const ROUNDS = 4;

const messages = [{ role: 'user' as const, content: 'Say hello.' }];
const CREDITS = 1_000n;

/** With one worker, whose mode each test sets. */
let shared: RunningService;
/** The shared one, or a test's own. */
let service: RunningService;
/** Of one test: what is charged is counted for its wallet. */
let wallet: { address: PublicKey; apiKey: string };
const started: RunningService[] = [];

beforeAll(async () => {
  shared = await startRunningService({ credits: CREDITS, apiSettings: { METRICS_PORT: '0' } });
});

afterEach(async () => {
  for (const one of started.splice(0)) await one.close();
});

afterAll(() => shared?.close());

/** What the shared service's only worker does from now on, to a wallet's first job. */
async function work(mode: WorkerMode): Promise<void> {
  service = shared;
  wallet = await service.addWallet(CREDITS);
  service.workers[0]?.setMode(mode);
}

/** A service of the test's own, for other workers than the shared one's. */
async function start(...workers: WorkerBehaviour[]): Promise<void> {
  const apiSettings = { METRICS_PORT: '0' };
  service = await startRunningService({ workers, credits: CREDITS, apiSettings });
  started.push(service);
  wallet = { address: service.wallet.publicKey, apiKey: service.apiKey };
}

/** An engine that has no text, and finds its job's time over as soon as the test says so. */
function createHastyEngine() {
  const { promise: asked, resolve: wasAsked } = Promise.withResolvers<void>();
  const { promise: said, resolve: sayIt } = Promise.withResolvers<void>();
  // biome-ignore lint/correctness/useYield: it has nothing to say
  async function* generate(): ReturnType<Engine['generate']> {
    wasAsked();
    await said;
    throw new WorkerError('deadline_passed', 'The proof would come too late');
  }
  return { engine: { kind: 'builtin', generate } satisfies Engine, asked, sayIt };
}

/** The error that ends a completion, as a status or inside the stream. */
async function failureOf(kind: 'plain' | 'stream'): Promise<APIError> {
  const client = service.openai(wallet);
  const body = { model: service.model.id, messages };
  try {
    if (kind === 'plain') await client.chat.completions.create(body);
    else {
      const stream = await client.chat.completions.create({ ...body, stream: true });
      for await (const _chunk of stream);
    }
  } catch (error) {
    if (error instanceof APIError) return error;
    throw error;
  }
  throw new Error('the completion succeeded');
}

/** Whether a streamed completion ends with an error. */
async function failsAsStream(): Promise<boolean> {
  const failure = await failureOf('stream').catch((error: Error) => error);
  return failure instanceof APIError;
}

/** The wallet's only job, as the ledger has it. */
async function onlyJob() {
  const { jobs } = await readBooks(service, wallet.address);
  expect(jobs).toHaveLength(1);
  return jobs[0];
}

async function keptAnswers(): Promise<number> {
  const { rows } = await service.pool.query(
    `select count(*)::int as answers
     from service.answer_copies join service.idempotent_requests using (job_id) where wallet = $1`,
    [wallet.address.toBase58()],
  );
  return rows[0].answers;
}

async function expectNothingCharged(): Promise<void> {
  expect(await readBooks(service, wallet.address)).toMatchObject({
    available: CREDITS,
    locked: 0n,
  });
  await service.expectConserved();
}

/** Until so many of the wallet's jobs are there, and each of them has this status. */
async function untilAll(status: JobStatus, count: number) {
  const own = (jobs: Awaited<ReturnType<RunningService['jobs']>>) => ofWallet(jobs, wallet.address);
  const found = await service.untilJobs(
    (jobs) => own(jobs).length === count && own(jobs).every(({ data }) => data.status === status),
  );
  return own(found);
}

describe.each(['plain', 'stream'] as const)('a %s completion', (kind) => {
  it('ends as job_timeout and is refunded when its worker never answers [failures.timeout]', async () => {
    await work('never_answers');
    const failing = failureOf(kind);
    await untilDispatched(service, wallet.address, 1);
    await service.advanceSeconds(REFUNDABLE_SECONDS);
    const error = await failing;
    expect(error).toMatchObject({ status: 504, code: 'job_timeout', type: 'timeout_error' });
    // It is safe to retry.
    expect(error.headers?.get('x-should-retry')).toBeNull();
    const [job] = await service.get('/v1/jobs', wallet.apiKey).then(({ data }) => data);
    expect(error.error).toMatchObject({
      details: { job_id: job.id, credits_refunded: 8, refund_tx: job.on_chain.refund_tx },
    });
    expect(job).toMatchObject({ status: 'refunded', failure_reason: null, credits_charged: 0 });
    expect(await onlyJob()).toMatchObject({ status: 'refunded', charged: 0n });
    await expectNothingCharged();
  });

  it('ends as job_timeout, too, when its worker reports the time-out first', async () => {
    const { engine, asked, sayIt } = createHastyEngine();
    await start(engine);
    const failing = failureOf(kind);
    await asked;
    await service.advanceSeconds(STOPPED_SECONDS + 3);
    sayIt();
    await service.advanceSeconds(REFUNDABLE_SECONDS + 1 - STOPPED_SECONDS);
    expect(await failing).toMatchObject({ status: 504, code: 'job_timeout' });
    expect(await onlyJob()).toMatchObject({ status: 'refunded', charged: 0n });
    await expectNothingCharged();
  });

  it('fails when its worker reports a time-out too early', async () => {
    const { engine, sayIt } = createHastyEngine();
    await start(engine);
    sayIt();
    expect(await failureOf(kind)).toMatchObject({ code: 'worker_failed' });
    expect(await onlyJob()).toMatchObject({
      status: 'failed',
      reason: 'worker_error',
      charged: 0n,
    });
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
      await work(behaviour);
      const error = await failureOf(kind);
      expect(error).toMatchObject({ code: 'worker_failed', type: 'server_error' });
      expect(await onlyJob()).toMatchObject({ status: 'failed', reason, charged: 0n });
      const { data } = await service.get('/v1/jobs', wallet.apiKey);
      expect(data).toMatchObject([{ status: 'failed', failure_reason: reason }]);
      await expectNothingCharged();
      // What was not proven is kept for no repeat.
      await until(async () => (await keptAnswers()) === 0);
    },
  );

  it('fails over to the next worker when the first refuses before any content [failures.failover]', async () => {
    await start('refuses', 'honest');
    // The choice among two is random: whichever comes first, each request must be answered.
    for (let round = 0; round < ROUNDS; round += 1) {
      const body = { model: service.model.id, messages };
      if (kind === 'plain') await service.openai(wallet).chat.completions.create(body);
      else {
        const stream = await service
          .openai(wallet)
          .chat.completions.create({ ...body, stream: true });
        for await (const _chunk of stream);
      }
    }
    await untilAll('settled', ROUNDS);
  });

  it.each(['dies_midstream', 'no_proof', 'wrong_hash'] as const)(
    'is answered by a sound worker, if plain, after one’s first text: %s',
    async (behaviour) => {
      await start(behaviour, 'honest');
      const body = { model: service.model.id, messages };
      const [bad] = service.workers;
      for (let round = 0; (bad?.jobsAsked() ?? 0) === 0; round += 1) {
        expect(round).toBeLessThan(50);
        if (kind === 'plain') {
          const answer = await service.openai(wallet).chat.completions.create(body);
          expect(answer.choices[0]?.finish_reason).toBe('stop');
        } else if (await failsAsStream()) break;
      }
      await service.expectConserved();
    },
  );

  it('is charged for the lower count when its worker claims more tokens [charging.lower-count]', async () => {
    await work('inflates_count');
    const body = { model: service.model.id, messages, max_tokens: 100_000 };
    const client = service.openai(wallet);
    if (kind === 'plain') {
      const { choices, usage } = await client.chat.completions.create(body);
      // There is no tokenizer.
      const bound = boundTokens(choices[0]?.message.content ?? '');
      expect(usage?.completion_tokens).toBe(bound);
    } else for await (const _ of await client.chat.completions.create({ ...body, stream: true }));
    await untilAll('settled', 1);
    expect(await onlyJob()).toMatchObject({ status: 'settled', charged: 8n });
  });

  it('is stopped before its deadline, ends with length and is paid [failures.long-answer]', async () => {
    await work('endless');
    const body = { model: service.model.id, messages, max_tokens: 5_000 };
    const client = service.openai(wallet);
    let reportedTokens: number | undefined;
    if (kind === 'plain') {
      const answering = client.chat.completions.create(body);
      await untilAll('processing', 1);
      await service.advanceSeconds(STOPPED_SECONDS);
      const answer = await answering;
      expect(answer.choices[0]?.finish_reason).toBe('length');
      reportedTokens = answer.usage?.completion_tokens;
    } else {
      const options = { stream: true, stream_options: { include_usage: true } } as const;
      const stream = await client.chat.completions.create({ ...body, ...options });
      const reasons: unknown[] = [];
      let moved: Promise<void> | undefined;
      for await (const { choices, usage } of stream) {
        moved ??= service.advanceSeconds(STOPPED_SECONDS);
        reasons.push(...choices.map(({ finish_reason }) => finish_reason));
        reportedTokens = usage?.completion_tokens;
      }
      await moved;
      expect(reasons.at(-1)).toBe('length');
    }
    const [job] = await untilAll('settled', 1);
    if (!job) throw new Error('no job was locked');
    const { completionTokens, countedTokens, chargedCredits } = job.data;
    const tokens = Math.min(completionTokens, countedTokens);
    expect(tokens).toBeLessThan(body.max_tokens);
    expect(reportedTokens).toBe(tokens);
    expect(chargedCredits).toBe(chargeCredits(service.model, tokens, 20n));
    expect(await readBooks(service, wallet.address)).toMatchObject({
      available: CREDITS - chargedCredits,
      locked: 0n,
    });
    await service.expectConserved();
  });
});

describe('a request whose API process is killed after the lock', () => {
  it('is refunded by the keeper [failures.process-dies]', async () => {
    await work('never_answers');
    const api = await service.startApiProcess();
    const asking = fetch(`${api.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${wallet.apiKey}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model: service.model.id, messages }),
    });
    const broken = expect(asking).rejects.toThrow();
    await untilLocked(service, wallet.address, 1);
    await api.kill();
    await broken;
    expect((await readBooks(service, wallet.address)).locked).toBe(8n);
    await service.advanceSeconds(REFUNDABLE_SECONDS);
    await untilAll('refunded', 1);
    await expectNothingCharged();
  });
});

describe('a client that disconnects', () => {
  it('is not charged before a plain answer began [failures.client-left-plain]', async () => {
    await work('endless');
    const leaving = new AbortController();
    const asking = service
      .openai(wallet)
      .chat.completions.create({ model: service.model.id, messages }, { signal: leaving.signal });
    const left = expect(asking).rejects.toThrow();
    await untilLocked(service, wallet.address, 1);
    leaving.abort();
    await left;
    await untilAll('failed', 1);
    expect(await onlyJob()).toMatchObject({ status: 'failed', reason: 'client_gone' });
    await expectNothingCharged();
  });

  it('during a stream is charged for what was produced [failures.client-left-stream]', async () => {
    await work('endless');
    const stream = await service
      .openai(wallet)
      .chat.completions.create({ model: service.model.id, messages, stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    await untilAll('settled', 1);
    expect((await onlyJob())?.charged).toBe(8n);
    await service.expectConserved();
  });
});
