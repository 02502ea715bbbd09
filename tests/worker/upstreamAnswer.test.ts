import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '../../common/logger.ts';
import { answerCharactersMax, estimateTokens } from '../../common/tokenizers/tokenCounts.ts';
import { createUpstreamEngine } from '../../worker/engine/upstream.ts';
import { readAnswer, readEvents } from './events.ts';
import { codeOf, MODEL_ID, openScene, type Scene, TOKEN_LIMIT } from './scene.ts';
import { type Reply, startUpstream, type UpstreamServer } from './upstreamServer.ts';

let upstream: UpstreamServer;
let scene: Scene;
beforeAll(async () => {
  upstream = await startUpstream();
  scene = await openScene({ engine: createUpstreamEngine({ url: upstream.url, key: 'secret' }) });
});
afterAll(async () => {
  await scene.close();
  upstream.close();
});

function hashOf(text: string): string {
  return `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`;
}

async function ask(chat: Record<string, unknown> = {}): Promise<Response> {
  return scene.ask(await scene.lock(), { chat });
}

/** Asks a worker of its own. */
async function askWith(options: Parameters<typeof openScene>[0]) {
  const own = await openScene(options);
  const response = await own.ask(await own.lock());
  const answer = response.ok ? await readAnswer(response) : { code: await codeOf(response) };
  await own.close();
  return { status: response.status, ...answer };
}

describe('a job with an upstream engine', () => {
  it('requests the limit, streaming and usage, and forwards known fields only', async () => {
    upstream.answerWith((reply) => {
      reply.text('Hello');
      reply.complete('stop');
    });
    await readAnswer(await ask({ seed: 7, stop: ['END'], temperature: 0.5, max_tokens: 9, n: 3 }));
    const { path, headers, body } = upstream.requests.at(-1) ?? {};
    expect(path).toBe('/v1/chat/completions');
    expect(headers?.authorization).toBe('Bearer secret');
    expect(body).toEqual({
      model: MODEL_ID,
      messages: [{ role: 'user', content: 'Say hello to the harbour.' }],
      seed: 7,
      stop: ['END'],
      temperature: 0.5,
      max_tokens: TOKEN_LIMIT,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('blames no field that was not sent for a refusal', async () => {
    upstream.answerWith((reply) => reply.refuse(400, { error: { message: 'top_k is bad' } }));
    expect(await codeOf(await ask())).toBe('request_refused');
  });

  it("forwards deltas as they arrive and proves the upstream's usage", async () => {
    const { promise: read, resolve: onRead } = Promise.withResolvers<void>();
    upstream.answerWith(async (reply) => {
      reply.text('Good ');
      await read;
      reply.text('morning');
      reply.complete('length', 31, 4);
    });
    const response = await ask();
    expect(response.headers.get('x-svc-engine')).toBeNull();
    const events = readEvents(response);
    const [role, first] = [await events.next(), await events.next()];
    expect(JSON.parse(role.value?.data ?? '')).toMatchObject({ choices: [{ index: 0 }] });
    expect(JSON.parse(first.value?.data ?? '')).toMatchObject({
      choices: [{ index: 0, delta: { content: 'Good ' } }],
    });
    onRead();
    const rest: string[] = [];
    for await (const { data } of events) rest.push(data);
    expect(rest.join()).toContain('"finish_reason":"length"');
    expect(JSON.parse(rest.at(-1) ?? '')).toMatchObject({
      output_hash: hashOf('Good morning'),
      prompt_tokens: 31,
      completion_tokens: 4,
    });
  });

  it.each([
    ['sends an empty delta', (reply: Reply) => reply.text('')],
    ['sends a comment', (reply: Reply) => reply.lines(': working\n\n')],
  ])('sends an alive event while the upstream %s', async (_what, think) => {
    const { promise: read, resolve: onRead } = Promise.withResolvers<void>();
    upstream.answerWith(async (reply) => {
      think(reply);
      think(reply);
      await read;
      reply.text('Good morning');
      reply.complete('stop');
    });
    const events = readEvents(await ask());
    expect((await events.next()).value).toMatchObject({ event: 'alive', data: '{}' });
    onRead();
    const rest: string[] = [];
    for await (const { event, data } of events) rest.push(`${event} ${data}`);
    // At most one a second, and none of it is part of the answer.
    expect(rest.filter((event) => event.startsWith('alive'))).toEqual([]);
    expect(JSON.parse(rest.at(-1)?.slice('proof '.length) ?? '')).toMatchObject({
      output_hash: hashOf('Good morning'),
    });
  });

  it("asks for each model by the upstream's own name", async () => {
    const models = new Map([[MODEL_ID, 'Org/Test-8B:latest']]);
    const engine = createUpstreamEngine({ url: upstream.url, models, model: 'another' });
    upstream.answerWith((reply) => {
      reply.text('Hello');
      reply.finish('stop');
      reply.end();
    });
    const asked: unknown[] = [];
    for (const model of [MODEL_ID, 'other-1b']) {
      const messages = [{ role: 'user' as const, content: 'Hello' }];
      const signal = new AbortController().signal;
      for await (const _event of engine.generate({ model, messages }, { tokenLimit: 9, signal }));
      asked.push(upstream.requests.at(-1)?.body.model);
    }
    expect(asked).toEqual(['Org/Test-8B:latest', 'another']);
  });

  it.each([
    ['has none', undefined],
    ['has no number of them', { prompt_tokens: null, completion_tokens: 0.5 }],
  ])('estimates the tokens from the text where the usage %s', async (_what, usage) => {
    upstream.answerWith((reply) => {
      for (const text of 'One two three') reply.text(text);
      reply.finish('stop');
      if (usage) reply.raw(JSON.stringify({ choices: [], usage }));
      reply.end();
    });
    const { proof } = await readAnswer(await ask());
    expect(proof).toMatchObject({
      prompt_tokens: 4,
      completion_tokens: estimateTokens('One two three'),
    });
  });

  it('never proves more tokens than the text has bytes', async () => {
    upstream.answerWith((reply) => {
      reply.text('four');
      reply.complete('stop', 10, 150);
    });
    const { proof } = await readAnswer(await ask());
    expect(proof).toMatchObject({ completion_tokens: 4 });
  });

  it('aborts an upstream that ignores the token limit', async () => {
    let closed: Promise<unknown> | undefined;
    upstream.answerWith((reply) => {
      closed = reply.closed;
      for (let token = 0; token < TOKEN_LIMIT + 50; token += 1) reply.text('a ');
    });
    const { text, finishReason, proof } = await readAnswer(await ask());
    expect(text).toBe('a '.repeat(TOKEN_LIMIT));
    expect(finishReason).toBe('length');
    expect(proof).toMatchObject({ completion_tokens: TOKEN_LIMIT });
    await closed;
  });

  it('cuts off and proves a text that no API would accept', async () => {
    const charactersMax = answerCharactersMax(TOKEN_LIMIT);
    upstream.answerWith((reply) => {
      reply.text('x');
      reply.text('x'.repeat(charactersMax));
      reply.complete('stop', 9, 3);
    });
    const { text, finishReason, proof } = await readAnswer(await ask());
    expect([text.length, finishReason]).toEqual([charactersMax, 'length']);
    expect(proof).toMatchObject({ output_hash: hashOf(text), completion_tokens: TOKEN_LIMIT });
  });

  it('sends a long delta in pieces that end between characters', async () => {
    const long = `x${'👋'.repeat(40_000)}`;
    upstream.answerWith((reply) => {
      reply.text(long);
      reply.complete('stop');
    });
    const { text, deltas, proof } = await readAnswer(
      await scene.ask(await scene.lock({ token_limit: 1_000 }), { body: { token_limit: 1_000 } }),
    );
    expect(text).toBe(long);
    expect(deltas.every((delta) => delta.isWellFormed() && delta.length <= 65_536)).toBe(true);
    expect(proof).toMatchObject({ output_hash: hashOf(long) });
  });

  it('ends at a stop sequence that the upstream ignores, and disconnects', async () => {
    let closed: Promise<unknown> | undefined;
    upstream.answerWith((reply) => {
      closed = reply.closed;
      for (const text of ['one E', 'N', 'D two', ' three']) reply.text(text);
    });
    const { text, finishReason } = await readAnswer(await ask({ stop: ['END'] }));
    expect([text, finishReason]).toEqual(['one ', 'stop']);
    await closed;
  });

  it.each([
    ['goes on in the same delta', ['one E', 'ND two'], 'stop', 900, 'one ', estimateTokens('one ')],
    ['goes on', ['one E', 'ND', ' two'], 'stop', 900, 'one ', estimateTokens('one ')],
    ['ends with it', ['one E', 'ND'], 'stop', 3, 'one ', 3],
    ['only begins it', ['on E', 'Nd, th', 'en EN'], 'length', 5, 'on ENd, then EN', 5],
  ])(
    'has the usage of what it sent where, at a stop sequence, the upstream %s',
    async (_what, deltas, reason, counted, expected, tokens) => {
      upstream.answerWith((reply) => {
        for (const text of deltas) reply.text(text);
        reply.complete(reason, 10, counted);
      });
      const { text, finishReason, proof } = await readAnswer(await ask({ stop: 'END' }));
      expect([text, finishReason]).toEqual([expected, reason]);
      expect(proof).toMatchObject({ completion_tokens: tokens, output_hash: hashOf(text) });
    },
  );

  it.each([
    ['joins a surrogate pair', ['wave \ud83d', '\udc4b', ' bye'], 'wave 👋 bye'],
    [
      'replaces a lone surrogate',
      ['\udc4b low', ' hi \ud83d', ' \ud83d'],
      '\ufffd low hi \ufffd \ufffd',
    ],
  ])('%s before it is sent and hashed', async (_what, sent, expected) => {
    upstream.answerWith((reply) => {
      for (const text of sent) reply.text(text);
      reply.complete('stop');
    });
    const { text, deltas, proof } = await readAnswer(await ask());
    expect(text).toBe(expected);
    expect(deltas.every((delta) => delta.isWellFormed())).toBe(true);
    expect(proof).toMatchObject({ output_hash: hashOf(expected) });
  });

  it('waits for the usage no longer than its limit', async () => {
    upstream.answerWith((reply) => {
      reply.text('Hello');
      reply.finish('stop');
    });
    const engine = createUpstreamEngine({ url: upstream.url, restWaitMs: 20 });
    expect(await askWith({ engine })).toMatchObject({
      proof: { completion_tokens: estimateTokens('Hello') },
    });
  });
});

describe('an upstream that fails', () => {
  // What else model servers say is in tests/worker/dialects.
  it.each([
    ['fails', 502, 'upstream_failed', 500, { error: { message: 'out of memory' } }],
    ['refuses the request', 400, 'request_refused', 400, { error: { message: 'bad turn' } }],
    ['has too many requests', 503, 'no_free_slot', 429, { error: { message: 'slow down' } }],
    ['answers without streaming', 502, 'upstream_failed', 200, { choices: [] }],
  ] as const)('and %s becomes %i %s', async (_case, status, code, upstreamStatus, body) => {
    upstream.answerWith((reply) => reply.refuse(upstreamStatus, body));
    const response = await ask();
    expect([response.status, await codeOf(response)]).toEqual([status, code]);
  });

  it.each([
    [429, '7', '7'],
    [503, '0', '1'],
    [503, '0.2', '1'],
    [429, '3600', '60'],
    [503, 'Wed, 21 Oct 2015 07:28:00 GMT', '1'],
    [503, 'Fri, 21 Oct 2099 07:28:00 GMT', '60'],
    [503, 'soon', null],
    [500, '7', null],
  ])('is passed on, with %i and Retry-After %s, as %s', async (status, sent, passed) => {
    upstream.answerWith((reply) => {
      reply.head(status, { 'retry-after': sent });
      reply.end();
    });
    const response = await ask();
    expect(response.headers.get('retry-after')).toBe(passed);
  });

  it.each<[string, (reply: Reply) => void]>([
    ['breaks off', (reply) => reply.break()],
    ['ends without finish_reason or [DONE]', (reply) => reply.end()],
    ['sends an error', (reply) => reply.raw('{"error":{"message":"overloaded"}}')],
    ['ends with an unknown word', (reply) => reply.complete('whatever_this_is')],
  ])('during its answer (%s) gives an error event and no proof', async (_case, fail) => {
    upstream.answerWith((reply) => {
      reply.text('Half of');
      fail(reply);
    });
    const { text, error, proof, finishReason } = await readAnswer(await ask());
    expect(text).toBe('Half of');
    expect(error).toMatchObject({ code: 'upstream_failed' });
    expect(proof).toBeUndefined();
    expect(finishReason).toBeUndefined();
  });

  it.each([
    [500, { status: 502, code: 'upstream_failed' }],
    [400, { status: 400, code: 'request_refused' }],
  ])('is abandoned when it never ends the body of its error %i', async (status, refusal) => {
    upstream.answerWith((reply) => {
      reply.head(status, { 'content-type': 'text/plain' });
      reply.lines('out of');
    });
    const engine = createUpstreamEngine({ url: upstream.url, restWaitMs: 20 });
    expect(await askWith({ engine })).toEqual(refusal);
  });

  it('is not followed when it redirects, and its status is reported', async () => {
    const logged: string[] = [];
    const into = { write: (line: string) => void logged.push(line) };
    const logger = createLogger({ name: 'worker', level: 'warn', into });
    const engine = createUpstreamEngine({ url: upstream.url });
    upstream.answerWith((reply) => {
      reply.head(307, { location: '/elsewhere' });
      reply.end();
    });
    const asked = upstream.requests.length;
    const answer = await askWith({ engine, logger });
    expect(answer).toEqual({ status: 502, code: 'upstream_failed' });
    expect(upstream.requests).toHaveLength(asked + 1);
    expect(logged.join()).toContain('The upstream answered with status 307');
  });
});
