import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '../../common/logger.ts';
import { until } from '../../testing/until.ts';
import { createUpstreamEngine } from '../../worker/engine/upstream.ts';
import { createWorkerMetrics } from '../../worker/metrics.ts';
import { readEvents } from './events.ts';
import { openScene, type Scene } from './scene.ts';
import { type Reply, startUpstream, type UpstreamServer } from './upstreamServer.ts';

const metrics = createWorkerMetrics();
const logged: { msg: string; code?: string; err?: { message: string } }[] = [];
let upstream: UpstreamServer;
let scene: Scene;
beforeAll(async () => {
  upstream = await startUpstream();
  const into = { write: (line: string) => void logged.push(JSON.parse(line)) };
  scene = await openScene({
    engine: createUpstreamEngine({ url: upstream.url }),
    logger: createLogger({ name: 'worker', level: 'warn', into }),
    metrics,
    stopsTime: true,
  });
});
afterAll(async () => {
  await scene.close();
  upstream.close();
});

/** Some 12,000 tokens, which may take 44 s to read. */
const LONG = 'word '.repeat(12_000);

/**
 * Asks for an answer that stands still after `text`, and leaves once it has for so long.
 *
 * @param act is called before that, once the text has come
 */
async function leaveAfter(
  ms: number,
  { text = '', prompt = 'Say hello.' },
  act: (reply: Reply, untilNext: () => Promise<unknown>) => Promise<void> = async () => undefined,
): Promise<void> {
  const arrived = Promise.withResolvers<Reply>();
  upstream.answerWith((reply) => {
    if (text !== '') reply.text(text);
    arrived.resolve(reply);
  });
  const leaving = new AbortController();
  const chat = { messages: [{ role: 'user', content: prompt }] };
  const asking = scene.ask(await scene.lock(), { signal: leaving.signal, chat });
  asking.catch(() => undefined);
  const reply = await arrived.promise;
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
});
