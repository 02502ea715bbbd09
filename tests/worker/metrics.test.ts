import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createLogger } from '../../common/logger.ts';
import { serveMetrics } from '../../common/net/serveMetrics.ts';
import { until } from '../../testing/until.ts';
import { createUpstreamEngine } from '../../worker/engine/upstream.ts';
import { createWorkerMetrics } from '../../worker/metrics.ts';
import { readAnswer, readEvents } from './events.ts';
import { MODEL_ID, openScene, outcomeOf, type Scene } from './scene.ts';
import { type Reply, startUpstream, type UpstreamServer } from './upstreamServer.ts';

const metrics = createWorkerMetrics();
const logged: { msg: string; code?: string; err?: { message: string } }[] = [];
let upstream: UpstreamServer;
let scene: Scene;
let served: Awaited<ReturnType<typeof serveMetrics>>;
beforeAll(async () => {
  upstream = await startUpstream();
  const into = { write: (line: string) => void logged.push(JSON.parse(line)) };
  scene = await openScene({
    engine: createUpstreamEngine({ url: upstream.url }),
    logger: createLogger({ name: 'worker', level: 'warn', into }),
    metrics,
    stopsTime: true,
  });
  served = await serveMetrics({
    registry: metrics.registry,
    host: '127.0.0.1',
    port: 0,
    settings: { host: 'WORKER_METRICS_HOST', port: 'WORKER_METRICS_PORT' },
    reports: { '/jobs': metrics.report },
  });
});
afterAll(async () => {
  await served.close();
  await scene.close();
  upstream.close();
});

async function sample(name: string): Promise<number> {
  const text = await (await fetch(served.url)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.split(' ')[1]);
}

describe("a worker's metrics", () => {
  it('count proven jobs and their tokens by model, with their times', async () => {
    upstream.answerWith((reply) => {
      reply.text('Hello');
      reply.complete('stop');
    });
    const { proof } = await readAnswer(await scene.ask(await scene.lock()));
    const model = `model="${MODEL_ID}"`;
    expect(await sample(`svc_worker_jobs_total{${model},outcome="proved"}`)).toBe(1);
    const tokens = await sample(`svc_worker_tokens_total{${model},kind="completion"}`);
    expect(tokens).toBe(proof?.completion_tokens);
    expect(await sample(`svc_worker_first_text_seconds_count{${model}}`)).toBe(1);
    expect(await sample(`svc_worker_job_seconds_count{${model}}`)).toBe(1);
    expect(await sample('svc_worker_ready')).toBe(1);
    expect(await sample('svc_worker_slots')).toBe(8);
    expect(await sample('svc_worker_jobs_in_flight')).toBe(0);
  });

  it('count failures, and list the last ones without any text', async () => {
    upstream.answerWith((reply) => reply.complete('stop'));
    const job = await scene.lock();
    expect(await outcomeOf(scene.ask(job))).toBe('502 empty_output');
    const outcome = `svc_worker_jobs_total{model="${MODEL_ID}",outcome="empty_output"}`;
    expect(await sample(outcome)).toBe(1);
    expect(await sample('svc_worker_errors_total{code="empty_output"}')).toBe(1);
    const report = await fetch(served.url.replace('/metrics', '/jobs'));
    const failure = { job_id: job.id, model: MODEL_ID, code: 'empty_output' };
    expect(await report.json()).toEqual({
      in_flight: 0,
      slots: 8,
      failures: [{ at: expect.any(String), ...failure }],
    });
  });

  it('count a stranger’s requests by code alone, without labels of theirs', async () => {
    const asked = { signer: Keypair.generate(), chat: { model: 'a-strange-name' } };
    const asking = scene.ask(await scene.lock(), asked);
    expect(await outcomeOf(asking)).toBe('403 signer_not_allowed');
    expect(await sample('svc_worker_errors_total{code="signer_not_allowed"}')).toBe(1);
    expect(await (await fetch(served.url)).text()).not.toContain('a-strange-name');
  });
});

/** Some 12,000 tokens, which may take 44 s to read. */
const LONG = 'word '.repeat(12_000);
const toolOf = (description: string) => ({
  type: 'function',
  function: { name: 'tide', description },
});

/**
 * Asks for an answer that stands still after `text`, and leaves once it has for so long.
 *
 * @param act is called before that, once the text has come
 */
async function leaveAfter(
  ms: number,
  {
    text = '',
    prompt = 'Say hello.',
    ...fields
  }: { text?: string; prompt?: string; tools?: object[] },
  act: (reply: Reply, untilNext: () => Promise<unknown>) => Promise<void> = async () => undefined,
): Promise<void> {
  const arrived = Promise.withResolvers<Reply>();
  upstream.answerWith((reply) => {
    if (text !== '') reply.text(text);
    arrived.resolve(reply);
  });
  const leaving = new AbortController();
  const chat = { messages: [{ role: 'user', content: prompt }], ...fields };
  const asking = scene.ask(await scene.lock(), { signal: leaving.signal, chat });
  asking.catch(() => undefined);
  const reply = await arrived.promise;
  // The upstream may be asked before the ledger has shown the job.
  await until(() => metrics.report().in_flight > 0);
  if (text !== '') {
    const events = readEvents(await asking);
    // The role comes first.
    for (let read = 0; read < 2; read += 1) await events.next();
    await act(reply, () => events.next());
  }
  const failed = metrics.report().failures.length;
  scene.now.offsetMs += ms;
  leaving.abort();
  await reply.closed;
  await until(() => metrics.report().failures.length > failed);
}

async function expectFailure(code: string): Promise<void> {
  expect(metrics.report().failures[0]).toMatchObject({ code });
  expect(logged.at(-1)).toMatchObject({ msg: 'Gave no proof for a job', code });
  const outcomes = await metrics.registry.getSingleMetricAsString('svc_worker_jobs_total');
  expect(outcomes).toContain(`outcome="${code}"`);
}

describe('a job whose caller leaves an upstream that is frozen', () => {
  it.each([
    ['silent', 'after 20 s without an answer', 20_000, {}],
    ['silent', 'after 20 s in the middle of one', 20_000, { text: 'Once upon' }],
    ['silent', 'after the time for a long prompt', 47_000, { prompt: LONG }],
    ['caller_gone', 'sooner', 14_000, {}],
    ['caller_gone', 'sooner in the middle of one', 19_999, { text: 'Once upon' }],
    ['caller_gone', 'within the time for a long prompt', 38_000, { prompt: LONG }],
    ['caller_gone', 'within the time for long tools', 38_000, { tools: [toolOf(LONG)] }],
  ])('is %s in log and metrics %s', async (code, _when, ms, asked) => {
    await leaveAfter(ms, asked);
    await expectFailure(code);
    if (code === 'silent') expect(logged.at(-1)?.err?.message).toContain(`for ${ms / 1_000} s`);
  });

  it('is silent, too, after 20 s of life without text', async () => {
    await leaveAfter(12_000, { text: 'Once upon' }, async (reply, untilNext) => {
      scene.now.offsetMs += 12_000;
      reply.lines(': ping\n\n');
      await untilNext();
    });
    await expectFailure('silent');
    expect(logged.at(-1)?.err?.message).toContain('for 24 s');
  });

  it('is not silent while a call goes on in place of a text', async () => {
    const tools = [{ type: 'function', function: { name: 'tide' } }];
    await leaveAfter(12_000, { text: 'Once upon', tools }, async (reply, untilNext) => {
      scene.now.offsetMs += 12_000;
      reply.calls({ index: 0, id: 'call_1', function: { name: 'tide', arguments: '' } });
      await untilNext();
    });
    await expectFailure('caller_gone');
  });
});
