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

/** An event after which an upstream says all the same that it is done. */
function ended(event: string): (reply: Reply) => void {
  return (reply) => {
    reply.lines(`${event}\n\n`);
    reply.done();
    reply.end();
  };
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

  it.each([
    ['top_k', { top_k: 4 }, 'Unrecognized request argument supplied: top_k'],
    [
      'response_format',
      { response_format: { type: 'json_object' } },
      'Invalid json_schema: grammar',
    ],
    ['logit_bias', { logit_bias: { 5: 1 }, top_k: 4 }, 'logit_bias is not allowed'],
  ])('names the field that its upstream refuses: %s', async (param, chat, message) => {
    upstream.answerWith((reply) => reply.refuse(400, { error: { message } }));
    const response = await ask(chat);
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { code: 'parameter_refused', param } },
    ]);
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
    const first = [await events.next(), await events.next()];
    expect(JSON.stringify(first)).toContain('Good ');
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

  it('gives its text as the first choice of its chunks', async () => {
    upstream.answerWith((reply) => {
      reply.text('Hello');
      reply.complete('stop');
    });
    const chunks: string[] = [];
    for await (const { event, data } of readEvents(await ask())) {
      if (event === undefined) chunks.push(data);
    }
    expect(chunks).toHaveLength(3);
    for (const chunk of chunks)
      expect(JSON.parse(chunk)).toMatchObject({ choices: [{ index: 0 }] });
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
    ['one word a delta', ['One', ' two', ' three']],
    ['one letter a delta', [...'One two three']],
    ['all of it in one delta', ['One two three']],
  ])(
    'estimates the tokens of an upstream without usage from the text: %s',
    async (_how, deltas) => {
      upstream.answerWith((reply) => {
        for (const text of deltas) reply.text(text);
        reply.finish('stop');
        reply.end();
      });
      const { proof } = await readAnswer(await ask());
      expect(proof).toMatchObject({
        prompt_tokens: 4,
        completion_tokens: estimateTokens('One two three'),
      });
    },
  );

  it.each([{}, { prompt_tokens: 3 }, { prompt_tokens: null, completion_tokens: 0.5 }])(
    'estimates the text where a usage of %j does not count it',
    async (usage) => {
      upstream.answerWith((reply) => {
        reply.text('Hello');
        reply.finish('stop');
        reply.raw(JSON.stringify({ choices: [], usage }));
        reply.done();
        reply.end();
      });
      const { text, proof } = await readAnswer(await ask());
      expect([text, proof?.completion_tokens]).toEqual(['Hello', estimateTokens('Hello')]);
    },
  );

  it('forwards one of several choices, and accepts a stream in capitals', async () => {
    upstream.answerWith((reply) => {
      reply.head(200, { 'content-type': 'Text/Event-Stream; charset=UTF-8' });
      for (const index of [0, 1]) {
        const delta = { content: `Answer ${index}.` };
        reply.raw(JSON.stringify({ choices: [{ index, delta, finish_reason: null }] }));
      }
      reply.raw(JSON.stringify({ choices: [{ index: 1, delta: {}, finish_reason: 'length' }] }));
      reply.complete('stop');
    });
    const { text, finishReason } = await readAnswer(await ask());
    expect([text, finishReason]).toEqual(['Answer 0.', 'stop']);
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

  it.each([
    ['one long delta', 1],
    ['deltas without end', 20],
  ])('cuts off and proves a text of %s that no API would accept', async (_what, deltas) => {
    const charactersMax = answerCharactersMax(TOKEN_LIMIT);
    upstream.answerWith((reply) => {
      for (let sent = 0; sent < deltas; sent += 1) reply.text('x'.repeat(charactersMax / 10 + 1));
      if (deltas > 1) return;
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
    const { text, finishReason, proof } = await readAnswer(await ask({ stop: ['END'] }));
    expect([text, finishReason]).toEqual(['one ', 'stop']);
    expect(proof).toMatchObject({
      output_hash: hashOf('one '),
      completion_tokens: estimateTokens('one '),
    });
    await closed;
  });

  it.each([
    ['in the same delta', ['one E', 'ND two']],
    ['in the next one', ['one E', 'ND', ' two']],
  ])(
    'takes no usage of an upstream that goes on after a stop sequence, %s',
    async (_how, deltas) => {
      upstream.answerWith((reply) => {
        for (const text of deltas) reply.text(text);
        reply.complete('stop', 10, 900);
      });
      const { text, proof } = await readAnswer(await ask({ stop: 'END' }));
      expect([text, proof?.completion_tokens]).toEqual(['one ', estimateTokens('one ')]);
    },
  );

  it('takes the usage of an upstream that ends with its stop sequence', async () => {
    upstream.answerWith((reply) => {
      for (const text of ['one E', 'ND']) reply.text(text);
      reply.complete('stop', 10, 3);
    });
    const { text, finishReason, proof } = await readAnswer(await ask({ stop: ['END'] }));
    expect([text, finishReason, proof?.completion_tokens]).toEqual(['one ', 'stop', 3]);
  });

  it('holds back no text that only began like a stop sequence', async () => {
    upstream.answerWith((reply) => {
      for (const text of ['on E', 'Nd, th', 'en EN']) reply.text(text);
      reply.complete('length', 9, 5);
    });
    const { text, finishReason, proof } = await readAnswer(await ask({ stop: 'END' }));
    expect([text, finishReason]).toEqual(['on ENd, then EN', 'length']);
    expect(proof).toMatchObject({ completion_tokens: 5, output_hash: hashOf(text) });
  });

  it('joins a surrogate pair that was split over two deltas', async () => {
    upstream.answerWith((reply) => {
      for (const text of ['wave \ud83d', '\udc4b', ' bye']) reply.text(text);
      reply.complete('stop');
    });
    const { text, deltas, proof } = await readAnswer(await ask());
    expect(text).toBe('wave 👋 bye');
    expect(deltas.every((delta) => delta.isWellFormed())).toBe(true);
    expect(proof).toMatchObject({ output_hash: hashOf('wave 👋 bye') });
  });

  it('replaces a lone surrogate before it is sent and hashed', async () => {
    upstream.answerWith((reply) => {
      for (const text of ['\udc4b low', ' high \ud83d', ' end \ud83d']) reply.text(text);
      reply.complete('stop');
    });
    const { text, proof } = await readAnswer(await ask());
    expect(text).toBe('\ufffd low high \ufffd end \ufffd');
    expect(proof).toMatchObject({ output_hash: hashOf(text) });
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

  it('is complete with its finish reason, even if the connection then breaks', async () => {
    upstream.answerWith((reply) => {
      reply.text('Hello');
      reply.finish('stop');
      reply.break();
    });
    const { text, finishReason, proof } = await readAnswer(await ask());
    expect([text, finishReason]).toEqual(['Hello', 'stop']);
    expect(proof).toMatchObject({ output_hash: hashOf('Hello') });
  });
});

describe('an upstream that fails', () => {
  it.each([
    ['refuses', 502, 'upstream_failed', 500, { error: { message: 'out of memory' } }],
    [
      'finds the conversation too long',
      400,
      'context_length_exceeded',
      400,
      { error: { message: "This model's maximum context length is 4096 tokens." } },
    ],
    [
      'finds the prompt too long in another dialect',
      400,
      'context_length_exceeded',
      400,
      { error: { type: 'exceed_context_size_error', message: 'request exceeds the available' } },
    ],
    ['refuses the request', 400, 'request_refused', 400, { error: { message: 'bad turn' } }],
    ['has too many requests', 503, 'no_free_slot', 429, { error: { message: 'slow down' } }],
    ['has no place in its queue', 503, 'no_free_slot', 503, { error: 'server busy' }],
    ['answers without streaming', 502, 'upstream_failed', 200, { choices: [] }],
  ] as const)('and %s becomes %i %s', async (_case, status, code, upstreamStatus, body) => {
    upstream.answerWith((reply) => reply.refuse(upstreamStatus, body));
    const response = await ask();
    expect(response.status).toBe(status);
    expect(await codeOf(response)).toBe(code);
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

  it('becomes 502 empty_output when it gives no text', async () => {
    upstream.answerWith((reply) => {
      reply.complete('stop');
    });
    const response = await ask();
    expect(response.status).toBe(502);
    expect(await codeOf(response)).toBe('empty_output');
  });

  it('becomes context_length_exceeded when it reports a too long conversation', async () => {
    const error = { code: 400, message: 'the request exceeds the available context size' };
    for (const event of [`error: ${JSON.stringify(error)}`, `data: ${JSON.stringify({ error })}`]) {
      upstream.answerWith(ended(event));
      const response = await ask();
      expect([response.status, await codeOf(response)]).toEqual([400, 'context_length_exceeded']);
    }
  });

  function endedBy(reply: Reply, ...words: string[]): void {
    for (const word of words) reply.finish(word);
    reply.done();
    reply.end();
  }

  const endedThen = (event: object) => (reply: Reply) => {
    reply.finish('stop');
    reply.raw(JSON.stringify(event));
    endedBy(reply);
  };

  it.each([
    ...[
      ['stop', 'stop'],
      ['EOS_TOKEN', 'stop'],
      ['end_turn', 'stop'],
      ['tool_calls', 'stop'],
    ],
    ...[
      ['max_tokens', 'length'],
      ['MAX_TOKENS', 'length'],
      ['model_length', 'length'],
    ],
    ...[
      ['SAFETY', 'content_filter'],
      ['sensitive', 'content_filter'],
    ],
  ])('is, with the finish reason %s, whole, cut or filtered: %s', async (word, reason) => {
    upstream.answerWith((reply) => {
      reply.text('Hello');
      endedBy(reply, word);
    });
    const { finishReason, proof } = await readAnswer(await ask());
    expect([finishReason, proof !== undefined]).toEqual([reason, true]);
  });

  it('gives no answer when it calls a tool in place of one', async () => {
    upstream.answerWith((reply) => endedBy(reply, 'tool_calls'));
    expect(await codeOf(await ask())).toBe('upstream_failed');
  });

  it('keeps its answer where only what follows the end cannot be read', async () => {
    upstream.answerWith((reply) => {
      reply.text('Hello');
      reply.finish('stop');
      reply.raw('{"choi');
      reply.end();
    });
    const { text, finishReason } = await readAnswer(await ask());
    expect([text, finishReason]).toEqual(['Hello', 'stop']);
  });

  it.each<[string, (reply: Reply) => void]>([
    ['breaks off', (reply) => reply.break()],
    ['ends without finish_reason or [DONE]', (reply) => reply.end()],
    ['sends an error event', (reply) => reply.raw('{"error":{"message":"overloaded"}}')],
    ['sends invalid JSON', (reply) => reply.raw('{"choi')],
    ['sends an error object', ended('data: {"object":"error","message":"overloaded"}')],
    ['names an event an error', ended('event: error\ndata: {"code":500}')],
    ['has a field of errors', ended('error: {"message":"overloaded"}')],
    [
      'names an error in its choice',
      ended('data: {"choices":[{"delta":{},"error":{"code":502}}]}'),
    ],
    ['says only that it is done', (reply) => endedBy(reply)],
    ['aborts', (reply) => endedBy(reply, 'abort')],
    ['ends with an error', (reply) => endedBy(reply, 'error')],
    ['lacks resources', (reply) => endedBy(reply, 'insufficient_system_resource')],
    ['ends with an unknown word', (reply) => endedBy(reply, 'whatever_this_is')],
    ['gives a second end', (reply) => endedBy(reply, 'stop', 'length')],
    ['goes on after its end', endedThen({ choices: [{ delta: { content: ' more' } }] })],
    ['fails after its end', endedThen({ error: { code: 500 } })],
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

  it('becomes 502 when it cannot be reached', async () => {
    const gone = await startUpstream();
    gone.close();
    const engine = createUpstreamEngine({ url: gone.url });
    expect(await askWith({ engine })).toMatchObject({ status: 502 });
  });
});
