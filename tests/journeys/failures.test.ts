import { afterEach, describe, expect, it } from '@jest/globals';
import { APIError } from 'openai';
import { chargeCredits } from '../../programs/client/pricing.ts';
import { FAILURE_REASONS, JOB_STATUSES, word } from '../../programs/client/vocabulary.ts';
import type { Engine } from '../../worker/engine/engine.ts';
import { WorkerError } from '../../worker/errors.ts';
import { until } from '../indexer/until.ts';
import { untilSampled } from '../support/apiMetrics.ts';
import {
  type RunningService,
  startRunningService,
  type WorkerBehaviour,
} from '../support/runningService.ts';

/** From here on a worker may be right that its proof would come too late. */
const STOP_SECONDS = 105;

const messages = [{ role: 'user' as const, content: 'Say hello.' }];
let service: RunningService;
const started: RunningService[] = [];

afterEach(async () => {
  for (const one of started.splice(0)) await one.close();
});

async function start(...behaviours: WorkerBehaviour[]): Promise<RunningService> {
  service = await startRunningService({ workers: behaviours, apiSettings: { METRICS_PORT: '0' } });
  started.push(service);
  return service;
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
  const client = service.openai();
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

/** The only job there is, as the ledger has it. */
async function onlyJob() {
  const [job] = await service.jobs();
  if (!job) throw new Error('no job was locked');
  return {
    status: word(JOB_STATUSES, job.data.status),
    reason: word(FAILURE_REASONS, job.data.failureReason),
    charged: job.data.chargedCredits,
  };
}

async function keptAnswers(): Promise<number> {
  const { rows } = await service.pool.query(
    'select count(answer)::int as answers from service.idempotent_requests',
  );
  return rows[0].answers;
}

async function expectNothingCharged(): Promise<void> {
  const account = await service.account();
  expect({ available: account.availableCredits, locked: account.lockedCredits }).toEqual({
    available: service.boughtCredits,
    locked: 0n,
  });
  await service.expectConserved();
}

describe.each(['plain', 'stream'] as const)('a %s completion', (kind) => {
  it('ends as job_timeout with the refund when its worker never answers', async () => {
    await start('never_answers');
    const failing = failureOf(kind);
    await service.untilUnderWay(1);
    await service.advanceSeconds(121);
    const error = await failing;
    expect(error).toMatchObject({ status: 504, code: 'job_timeout', type: 'timeout_error' });
    const [job] = await service.get('/v1/jobs').then(({ data }) => data);
    expect(error.error).toMatchObject({
      details: { job_id: job.id, credits_refunded: 8, refund_tx: job.on_chain.refund_tx },
    });
    expect(job).toMatchObject({ status: 'refunded', credits_charged: 0 });
    expect(await onlyJob()).toMatchObject({ status: 'refunded', charged: 0n });
    await expectNothingCharged();
  });

  it('ends so, too, when it is the worker who says that the time is over', async () => {
    const { engine, asked, sayIt } = createHastyEngine();
    await start(engine);
    const failing = failureOf(kind);
    await asked;
    await service.advanceSeconds(STOP_SECONDS + 4);
    await untilSampled(
      service,
      'svc_api_ledger_clock_offset_seconds',
      (offset) => offset > STOP_SECONDS + 1,
    );
    sayIt();
    await service.advanceSeconds(121 - STOP_SECONDS);
    expect(await failing).toMatchObject({ status: 504, code: 'job_timeout' });
    expect(await onlyJob()).toMatchObject({ status: 'refunded', charged: 0n });
    await expectNothingCharged();
  });

  it('has failed when its worker says so before the time', async () => {
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
    ['no_proof', 'proof_missing'],
    ['empty_output', 'empty_output'],
  ] as const)('costs nothing when its worker misbehaves: %s', async (behaviour, reason) => {
    await start(behaviour);
    const error = await failureOf(kind);
    expect(error).toMatchObject({ code: 'worker_failed', type: 'server_error' });
    expect(await onlyJob()).toMatchObject({ status: 'failed', reason, charged: 0n });
    await expectNothingCharged();
    // What was not proven is kept for no repeat.
    await until(async () => (await keptAnswers()) === 0);
  });

  it('is answered by the next worker when the first refuses before any content', async () => {
    await start('refuses', 'honest');
    // The choice among two is random: whichever comes first, each request must be answered.
    for (let round = 0; round < 4; round += 1) {
      const body = { model: service.model.id, messages };
      if (kind === 'plain') await service.openai().chat.completions.create(body);
      else {
        const stream = await service.openai().chat.completions.create({ ...body, stream: true });
        for await (const _chunk of stream);
      }
    }
    await service.untilJobs((jobs) => jobs.every(({ data }) => data.status === 3));
  });

  it('is charged for the lower count when its worker claims more tokens', async () => {
    await start('inflates_count');
    const body = { model: service.model.id, messages, max_tokens: 100_000 };
    if (kind === 'plain') await service.openai().chat.completions.create(body);
    else {
      const stream = await service.openai().chat.completions.create({ ...body, stream: true });
      for await (const _chunk of stream);
    }
    await service.untilJobs((jobs) => jobs.every(({ data }) => data.status === 3));
    expect(await onlyJob()).toMatchObject({ status: 'settled', charged: 8n });
  });

  it('is stopped before its time runs out, ends with length and is paid', async () => {
    await start('endless');
    const body = { model: service.model.id, messages, max_tokens: 5_000 };
    const client = service.openai();
    let toldTokens: number | undefined;
    if (kind === 'plain') {
      const answering = client.chat.completions.create(body);
      await service.untilJobs((jobs) => jobs.some(({ data }) => data.status === 1));
      await service.advanceSeconds(106);
      const answer = await answering;
      expect(answer.choices[0]?.finish_reason).toBe('length');
      toldTokens = answer.usage?.completion_tokens;
    } else {
      const options = { stream: true, stream_options: { include_usage: true } } as const;
      const stream = await client.chat.completions.create({ ...body, ...options });
      const reasons: unknown[] = [];
      let moved: Promise<void> | undefined;
      for await (const { choices, usage } of stream) {
        moved ??= service.advanceSeconds(106);
        reasons.push(...choices.map(({ finish_reason }) => finish_reason));
        toldTokens = usage?.completion_tokens;
      }
      await moved;
      expect(reasons.at(-1)).toBe('length');
    }
    const [job] = await service.untilJobs((jobs) => jobs.every(({ data }) => data.status === 3));
    if (!job) throw new Error('no job was locked');
    const { completionTokens, countedTokens, chargedCredits } = job.data;
    const tokens = Math.min(completionTokens, countedTokens);
    expect(tokens).toBeLessThan(body.max_tokens);
    expect(toldTokens).toBe(tokens);
    expect(chargedCredits).toBe(chargeCredits(service.model, tokens, 20n));
    const account = await service.account();
    expect({ available: account.availableCredits, locked: account.lockedCredits }).toEqual({
      available: service.boughtCredits - chargedCredits,
      locked: 0n,
    });
    await service.expectConserved();
  });
});

describe('a request whose API process is killed after the lock', () => {
  it('gets its credits back from the keeper', async () => {
    await start('never_answers');
    const api = await service.startApiProcess();
    const asking = fetch(`${api.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.apiKey}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model: service.model.id, messages }),
    });
    const broken = expect(asking).rejects.toThrow();
    await service.untilJobs((jobs) => jobs.length === 1);
    await api.kill();
    await broken;
    expect((await service.account()).lockedCredits).toBe(8n);
    await service.advanceSeconds(121);
    await service.untilJobs((jobs) => jobs.every(({ data }) => data.status === 5));
    await expectNothingCharged();
  });
});

describe('a client that leaves', () => {
  it('before a plain answer began is not charged', async () => {
    await start('endless');
    const leaving = new AbortController();
    const asking = service
      .openai()
      .chat.completions.create({ model: service.model.id, messages }, { signal: leaving.signal });
    const left = expect(asking).rejects.toThrow();
    await service.untilJobs((jobs) => jobs.length === 1);
    leaving.abort();
    await left;
    await service.untilJobs((jobs) => jobs.every(({ data }) => data.status === 4));
    expect(await onlyJob()).toMatchObject({ status: 'failed', reason: 'client_gone' });
    await expectNothingCharged();
  });

  it('in the middle of a stream is charged for what was produced', async () => {
    await start('endless');
    const stream = await service
      .openai()
      .chat.completions.create({ model: service.model.id, messages, stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    await service.untilJobs((jobs) => jobs.every(({ data }) => data.status === 3));
    expect((await onlyJob()).charged).toBe(8n);
    await service.expectConserved();
  });
});
