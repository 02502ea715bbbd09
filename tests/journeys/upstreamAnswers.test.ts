import { createHash, randomUUID } from 'node:crypto';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { generateText, streamText } from 'ai';
import { listKeys } from '../../api/account/keys.ts';
import { REQUEST_BYTES_MAX } from '../../common/workerProtocol.ts';
import { untilEnded } from '../../testing/ledger/walletBooks.ts';
import { FORMS, requestCompletion, sample } from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import { createUpstreamEngine } from '../../worker/engine/upstream.ts';
import { type Reply, startUpstream, type UpstreamServer } from '../worker/upstreamServer.ts';

const CREDITS = 1_000n;
const THOUGHTS = ['The user greets. ', 'I greet back.'];
const TEXT = 'Good morning to you.';
/** How many unpaid endings a wallet may have within an hour. */
const UNPAID_ENDINGS_MAX = 2;
const EMPTY = { status: 'failed', reason: 'empty_output', charged: 0n };

let service: RunningService;
/** Both workers have it. */
let upstream: UpstreamServer;
/** Of one test. */
let wallet: Awaited<ReturnType<RunningService['addWallet']>>;

beforeAll(async () => {
  upstream = await startUpstream();
  const engine = () => createUpstreamEngine({ url: upstream.url });
  service = await startRunningService({
    workers: [engine(), engine()],
    apiSettings: { METRICS_PORT: '0' },
    indexerSettings: { SVC_ABUSE_UNPAID_ENDINGS_PER_HOUR: String(UNPAID_ENDINGS_MAX) },
    indexerLimits: { abuseIntervalMs: 100 },
  });
});

beforeEach(async () => {
  wallet = await service.addWallet(CREDITS);
  upstream.requests.length = 0;
});

afterAll(async () => {
  await service?.close();
  upstream?.close();
});

const sayNothing = (reply: Reply) => reply.complete('stop');

function think(reply: Reply, text: string): void {
  const delta = { reasoning_content: text };
  reply.raw(JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] }));
}

function thinkToTheLimit(reply: Reply): void {
  think(reply, 'I wonder what to say, and what not. '.repeat(30));
  reply.complete('length');
}

/** Thinks, and answers with the text. */
function answerWith(usage: object): void {
  upstream.answerWith((reply) => {
    for (const thought of THOUGHTS) think(reply, thought);
    reply.text(TEXT);
    reply.finish('stop');
    reply.raw(JSON.stringify({ choices: [], usage }));
    reply.done();
    reply.end();
  });
}

describe.each(FORMS)('the reasoning of a %s answer', (form) => {
  const model = () =>
    createOpenAICompatible({
      ...{ name: 'svc', baseURL: `${service.baseUrl}/v1`, apiKey: wallet.apiKey },
      includeUsage: true,
    })(service.model.id);

  it('reaches clients, outside the proven text and the charge [completions.reasoning]', async () => {
    answerWith({
      ...{ prompt_tokens: 5, completion_tokens: 904 },
      completion_tokens_details: { reasoning_tokens: 900 },
    });
    const asked = { model: model(), prompt: 'Say hello.' };
    const answer = form === 'plain' ? await generateText(asked) : streamText(asked);
    expect([await answer.reasoningText, await answer.text]).toEqual([THOUGHTS.join(''), TEXT]);
    expect(await answer.usage).toMatchObject({ inputTokens: 5, outputTokens: 4, totalTokens: 9 });
    expect(await untilEnded(service, wallet.address, 1)).toMatchObject({
      jobs: [{ status: 'settled', charged: 8n }],
    });
    await service.untilMirrored();
    const { data } = await service.get('/v1/jobs', wallet.apiKey);
    const hash = createHash('sha256').update(TEXT, 'utf8').digest('hex');
    expect(data[0]).toMatchObject({
      usage: { completion_tokens: 4 },
      on_chain: { proof_hash: `sha256:${hash}` },
    });
  });
});

describe.each(FORMS)('a wallet whose %s requests empty their answers', (form) => {
  /** What the API has counted against each worker. */
  const incidents = () =>
    Promise.all(
      service.workers.map(({ address }) =>
        sample(service, `svc_api_worker_failures_total{worker="${address}"}`),
      ),
    );

  it.each([
    [{ logit_bias: { '2': 100 } }, sayNothing, 500, 2],
    [{ response_format: { type: 'json_object' } }, sayNothing, 500, 2],
    [{ stop: 'a' }, sayNothing, 200, 2],
    [{ max_tokens: 2 }, sayNothing, 500, 2],
    [{ max_completion_tokens: 200 }, thinkToTheLimit, 200, 1],
    // The prompt alone can do it, too: of two workers both say nothing.
    [{}, sayNothing, 500, 2],
  ])(
    'by %j bears that itself, and no worker does [failures.abuse]',
    async (body, script, status, times) => {
      upstream.answerWith(script);
      const { address, apiKey } = wallet;
      const before = await incidents();
      const count = UNPAID_ENDINGS_MAX + 1;
      for (let request = 0; request < count; request += 1) {
        expect((await requestCompletion(service, { form, apiKey, body })).status).toBe(status);
      }
      expect(await untilEnded(service, address, count)).toEqual({
        ...{ available: CREDITS, locked: 0n },
        jobs: Array(count).fill(EMPTY),
      });
      expect(upstream.requests).toHaveLength(count * times);
      expect(await incidents()).toEqual(before);
      const isSuspended = (key: { wallet: string; status: string }) =>
        key.wallet === address.toBase58() && key.status === 'suspended';
      await until(async () => (await listKeys(service.pool)).some(isSuspended));
      expect((await requestCompletion(service, { form, apiKey, body })).status).toBe(403);
    },
  );

  it('by a stop sequence that begins their text gets it empty, and free', async () => {
    upstream.answerWith((reply) => {
      reply.text('END of it');
      sayNothing(reply);
    });
    const body = { stop: 'END' };
    const answer = await requestCompletion(service, { form, apiKey: wallet.apiKey, body });
    expect(answer).toMatchObject({ status: 200, error: undefined });
    expect(answer.body).toContain('"finish_reason":"stop"');
    expect(answer.body).not.toContain('END');
    expect(await untilEnded(service, wallet.address, 1)).toMatchObject({ jobs: [EMPTY] });
  });

  it.each([
    ['a field of it', { top_k: 20 }, 'Unrecognized request argument: top_k', 'top_k'],
    ['its conversation', {}, 'turn by turn', null],
  ])('by %s that is refused gets a 400, and pays nothing', async (_what, body, message, param) => {
    upstream.answerWith((reply) => reply.refuse(400, { error: { message } }));
    const { address, apiKey } = wallet;
    const { status, error } = await requestCompletion(service, { form, apiKey, body });
    expect([status, error]).toMatchObject([400, { code: 'invalid_request', param }]);
    expect(upstream.requests).toHaveLength(2);
    expect(await untilEnded(service, address, 1)).toMatchObject({ available: CREDITS });
  });
});

describe.each(FORMS)('a %s answer to a request with response_format', (form) => {
  it.each([
    ['{"a": 1}', 'stop', true],
    ['A is 1.', 'stop', false],
    ['{"a": ', 'length', null],
  ])('%j, ended by %s, says %j, also again, and is charged', async (text, reason, isKept) => {
    upstream.answerWith((reply) => {
      reply.text(text);
      reply.complete(reason);
    });
    const { address, apiKey } = wallet;
    const schema = { type: 'object', required: ['a'] };
    const response_format = { type: 'json_schema', json_schema: { name: 'a', schema } };
    const headers = { 'idempotency-key': randomUUID() };
    for (let times = 0; times < 2; times += 1) {
      const asking = { form, apiKey, headers, body: { response_format } };
      const { body } = await requestCompletion(service, asking);
      expect(body).toContain(`"format_kept":${isKept}`);
    }
    expect(await untilEnded(service, address, 1)).toMatchObject({
      jobs: [{ status: 'settled', charged: 8n }],
    });
  });
});

describe('a client that leaves while its model still thinks', () => {
  it('pays nothing, and its upstream is aborted', async () => {
    const { promise: left, resolve: leave } = Promise.withResolvers<unknown>();
    upstream.answerWith((reply) => {
      think(reply, 'Hm. ');
      leave(reply.closed);
    });
    const messages = [{ role: 'user' as const, content: 'Say hello.' }];
    const stream = await service
      .openai(wallet)
      .chat.completions.create({ model: service.model.id, messages, stream: true });
    for await (const chunk of stream) {
      if ('reasoning_content' in (chunk.choices[0]?.delta ?? {})) break;
    }
    await left;
    expect(await untilEnded(service, wallet.address, 1)).toEqual({
      ...{ available: CREDITS, locked: 0n },
      jobs: [{ status: 'failed', reason: 'client_gone', charged: 0n }],
    });
  });
});

describe('a request that grows as much as it may on its way to a worker', () => {
  it('is taken by every worker, and answered', async () => {
    upstream.answerWith((reply) => {
      reply.text('Hello');
      sayNothing(reply);
    });
    // Four bytes here, and 16 in the plain digits that the worker gets.
    const numbers = '9e15,'.repeat(16_000);
    const parts = [
      `{"model": "${service.model.id}", "messages": [{"role": "user", "content": "Hi"}], `,
      `"chat_template_kwargs": {"numbers": [${numbers}1], "rest": "`,
      '"}}',
    ];
    const rest = 'x'.repeat(REQUEST_BYTES_MAX - parts.join('').length);
    const response = await fetch(`${service.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
      body: `${parts[0]}${parts[1]}${rest}${parts[2]}`,
    });
    expect(response.status).toBe(200);
    const asked = service.workers.flatMap(({ requests }) => requests);
    const lengths = asked.map(({ body }) => body().length);
    expect(Math.max(...lengths)).toBeGreaterThan(REQUEST_BYTES_MAX);
  });
});
