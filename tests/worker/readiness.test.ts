import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '../../common/logger.ts';
import { findFreePort } from '../../stack/port.ts';
import { until } from '../../testing/until.ts';
import type { Engine } from '../../worker/engine/engine.ts';
import { createReadiness } from '../../worker/engine/readiness.ts';
import { createUpstreamEngine } from '../../worker/engine/upstream.ts';
import { readAnswer } from './events.ts';
import { MODEL_ID, openScene, type Scene } from './scene.ts';
import { type Reply, startUpstream, type UpstreamServer } from './upstreamServer.ts';

const RETRY_MS = 2_000;
const CACHED_MS = 5_000;
/** A trial is waited for until it ends. */
const NEVER_MS = 2 ** 31 - 1;

let upstream: UpstreamServer;
let scene: Scene | undefined;
let logged: { level: number; cause?: string; msg: string }[];
beforeEach(async () => {
  // No other process gets this port while it is away.
  upstream = await startUpstream({ port: await findFreePort() });
  logged = [];
  scene = undefined;
});
afterEach(async () => {
  await scene?.close();
  upstream.close();
});

async function open({ url = upstream.url, trialWaitMs = NEVER_MS } = {}): Promise<Scene> {
  const into = { write: (line: string) => void logged.push(JSON.parse(line)) };
  const logger = createLogger({ name: 'test', level: 'info', into });
  const engine = createUpstreamEngine({ url });
  scene = await openScene({ engine, logger, stopsTime: true, trialWaitMs });
  return scene;
}

/** The status of a health check, and its error if it has one. */
async function health({ url }: Scene) {
  const response = await fetch(`${url}/health`);
  const body = (await response.json()) as { error?: { code: string; message: string } };
  return { status: response.status, ...body.error, wait: response.headers.get('retry-after') };
}

const READY = { status: 200 };
const notReady = (reason: string) => ({
  status: 503,
  code: 'upstream_not_ready',
  message: expect.stringContaining(`The upstream is not ready: ${reason}`),
});

describe('a worker with an upstream', () => {
  it('is not healthy until its trial has ended, and says how long that took', async () => {
    const [tried, loaded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    upstream.answerTrialsWith(async (reply) => {
      tried.resolve();
      await loaded.promise;
      reply.text('Hi');
      reply.complete('length');
    });
    const loading = await open({ trialWaitMs: 10 });
    await tried.promise;
    const reason = `it has not yet ended its trial of ${MODEL_ID}`;
    for (let asked = 0; asked < 3; asked += 1) {
      expect(await health(loading)).toMatchObject(notReady(reason));
      loading.now.offsetMs += CACHED_MS;
    }
    loaded.resolve();
    await until(async () => (await health(loading)).status === READY.status);
    const body = (await (await fetch(`${loading.url}/health`)).json()) as Record<string, unknown>;
    expect(body.first_token_ms).toEqual({ [MODEL_ID]: 3 * CACHED_MS });
    expect(upstream.trials).toEqual([MODEL_ID]);
  });

  it.each([
    ['{"trials": 1}', [MODEL_ID]],
    ['Hello! How can I help?', []],
    ['', []],
  ])('that answers %j in the form of a schema reports %j', async (text, models) => {
    const tried = Promise.withResolvers<void>();
    upstream.answerFormatTrialWith((reply) => {
      reply.text(text);
      reply.complete('stop');
      tried.resolve();
    });
    const { url } = await open();
    const read = async () =>
      (await (await fetch(`${url}/health`)).json()) as { response_format?: string[] };
    await tried.promise;
    await until(async () => isDeepStrictEqual((await read()).response_format, models));
  });

  const called = (name: string, text: string) => (reply: Reply) =>
    reply.calls({ index: 0, id: 'a', function: { name, arguments: text } });
  it.each<[string, (tool: string, argument: string) => (reply: Reply) => void, string[]]>([
    ['it', (tool, argument) => called(tool, `{"${argument}": 7}`), [MODEL_ID]],
    ['another', (_tool, argument) => called('trial_0', `{"${argument}": 7}`), []],
    ['it with a text', (tool, argument) => called(tool, `{"${argument}": "7"}`), []],
    ['it with another argument', (tool) => called(tool, '{"value": 7}'), []],
    ['it without JSON', (tool) => called(tool, '7 o'), []],
    ['none', () => (reply) => reply.text('Hello! How can I help?'), []],
  ])('forced to call a tool, and calls %s, reports it so', async (_what, call, models) => {
    const tried = Promise.withResolvers<void>();
    const names = new Set<string>();
    upstream.answerToolTrialWith((reply, { tools, tool_choice }) => {
      const [{ function: tool }] = tools as [{ function: { name: string; parameters: object } }];
      const [argument = ''] = Object.keys(Object(Object(tool.parameters).properties));
      names.add(tool.name).add(argument);
      expect(tool_choice).toEqual({ type: 'function', function: { name: tool.name } });
      call(tool.name, argument)(reply);
      reply.complete('stop');
      tried.resolve();
    });
    const { url } = await open();
    const read = async () => (await (await fetch(`${url}/health`)).json()) as { tools?: string[] };
    await tried.promise;
    expect([...names].join()).toMatch(/^trial_([0-9a-f]{8}),value_\1$/);
    await until(async () => isDeepStrictEqual((await read()).tools, models));
  });

  it('is not healthy while that is away, and tries its models again later', async () => {
    const { url } = upstream;
    upstream.close();
    const waiting = await open({ url });
    const reason = `its trial of '${MODEL_ID}' failed. The connection to the upstream failed:`;
    expect(await health(waiting)).toMatchObject(
      notReady(`${reason} nothing listens at its address (ECONNREFUSED)`),
    );
    expect(logged).toMatchObject([{ level: 50, msg: 'Found the upstream not ready' }]);
    const comeBack = async () => {
      upstream = await startUpstream({ port: Number(new URL(url).port) });
      waiting.now.offsetMs += RETRY_MS;
      expect(await health(waiting)).toMatchObject(READY);
      expect(upstream.trials).toEqual([MODEL_ID]);
    };
    await comeBack();
    expect(logged.at(-1)).toMatchObject({ level: 30, msg: 'Found the upstream ready' });
    upstream.close();
    waiting.now.offsetMs += CACHED_MS;
    expect(await health(waiting)).toMatchObject(notReady('The connection to the upstream failed'));
    await comeBack();
  });

  it('is not healthy while that cannot answer for its model', async () => {
    upstream.answerTrialsWith((reply) => reply.refuse(404, { error: 'no such model' }));
    const waiting = await open();
    const reason = `its trial of '${MODEL_ID}' failed. The upstream answered with status 404`;
    for (let asked = 0; asked < 5; asked += 1) {
      expect(await health(waiting)).toMatchObject(notReady(reason));
    }
    expect(upstream.trials).toHaveLength(1);
  });

  it('passes on the time to wait of a busy one', async () => {
    upstream.answerTrialsWith((reply) => {
      reply.head(503, { 'retry-after': '7' });
      reply.end();
    });
    const reason = `its trial of '${MODEL_ID}' failed. The upstream is busy, or loads its model: status 503`;
    expect(await health(await open())).toMatchObject({ ...notReady(reason), wait: '7' });
  });

  it('is asked for its list of models, once in five seconds at most', async () => {
    const ready = await open();
    expect(await health(ready)).toMatchObject(READY);
    for (let asked = 0; asked < 5; asked += 1) await health(ready);
    expect(upstream.trials).toEqual([MODEL_ID]);
    ready.now.offsetMs += CACHED_MS;
    for (let asked = 0; asked < 5; asked += 1) await health(ready);
    expect(upstream.trials).toEqual([MODEL_ID, undefined]);
  });

  it.each([
    [404, READY],
    [405, READY],
    [429, READY],
    [501, READY],
    [500, notReady('The upstream answered with status 500')],
    [503, notReady('The upstream is busy, or loads its model: status 503')],
    [401, notReady('The upstream answered with status 401')],
  ])('is judged by the status of its list of models: %i', async (status, expected) => {
    const ready = await open();
    expect(await health(ready)).toMatchObject(READY);
    upstream.answerTrialsWith((reply) => reply.refuse(status, {}));
    ready.now.offsetMs += CACHED_MS;
    expect(await health(ready)).toMatchObject(expected);
  });

  it('is asked no list while jobs show that it is there, but after a failure', async () => {
    const ready = await open();
    expect(await health(ready)).toMatchObject(READY);
    upstream.answerWith((reply) => {
      reply.text('Hello');
      reply.complete('stop');
    });
    ready.now.offsetMs += CACHED_MS;
    await readAnswer(await ready.ask(await ready.lock()));
    await health(ready);
    expect(upstream.trials).toEqual([MODEL_ID]);
    upstream.answerWith((reply) => reply.break());
    await ready.ask(await ready.lock());
    await health(ready);
    expect(upstream.trials).toEqual([MODEL_ID, undefined]);
  });
});

describe('a worker that hosts another model while one is tried', () => {
  it('is not healthy before that one has answered a trial, too', async () => {
    const loaded = Promise.withResolvers<void>();
    const tried: string[] = [];
    const engine: Engine = {
      kind: 'upstream',
      async check() {},
      async *generate({ model, response_format, tools }) {
        if (response_format || tools) throw new Error('refused');
        tried.push(model);
        await loaded.promise;
        yield { type: 'text', text: 'Hi' };
      },
    };
    const logger = createLogger({ name: 'test', level: 'silent' });
    const readiness = createReadiness({ engine, logger, now: () => 0 });
    const alone = readiness.require(['first']);
    const both = readiness.require(['first', 'second']);
    loaded.resolve();
    await alone;
    await expect(both).rejects.toThrow('it has not yet ended its trial of first, second');
    await readiness.require(['first', 'second']);
    expect(tried).toEqual(['first', 'second']);
  });
});
