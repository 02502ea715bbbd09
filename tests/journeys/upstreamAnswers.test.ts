import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { generateText, streamText } from 'ai';
import { listKeys } from '../../api/account/keys.ts';
import { REQUEST_BYTES_MAX } from '../../common/workerProtocol.ts';
import { untilEnded } from '../../testing/ledger/walletBooks.ts';
import {
  openCompletion,
  ROUTED_FORMS,
  ROUTES,
  requestCompletion,
  sample,
} from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import { createUpstreamEngine } from '../../worker/engine/upstream.ts';
import { type Reply, startUpstream, type UpstreamServer } from '../worker/upstreamServer.ts';

const CREDITS = 1_000n;
const THOUGHTS = ['The user greets. ', 'I greet back.'];
const TEXT = 'Good morning to you.';
/** How many unpaid endings a wallet may have within an hour: one fewer than there are forms. */
const UNPAID_ENDINGS_MAX = ROUTED_FORMS.length - 1;
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

describe('the reasoning of an answer', () => {
  beforeEach(() => {
    answerWith({
      ...{ prompt_tokens: 5, completion_tokens: 904 },
      completion_tokens_details: { reasoning_tokens: 900 },
    });
  });

  it.each(ROUTED_FORMS)(
    'reaches clients, outside the proven text and the charge: %s of %s [completions.reasoning]',
    async (form, route) => {
      const answer = await requestCompletion(service, { form, route, apiKey: wallet.apiKey });
      expect(answer).toMatchObject({
        ...{ reasoning: THOUGHTS.join(''), text: TEXT, finishReason: 'stop', completionTokens: 4 },
      });
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
    },
  );

  it('is shown beside the text by a library that knows it, plain and streamed', async () => {
    const model = createOpenAICompatible({
      ...{ name: 'svc', baseURL: `${service.baseUrl}/v1`, apiKey: wallet.apiKey },
      includeUsage: true,
    })(service.model.id);
    const asked = { model, prompt: 'Say hello.' };
    for (const answer of [await generateText(asked), streamText(asked)]) {
      expect([await answer.reasoningText, await answer.text]).toEqual([THOUGHTS.join(''), TEXT]);
      expect(await answer.usage).toMatchObject({ inputTokens: 5, outputTokens: 4, totalTokens: 9 });
    }
  });
});

describe('a wallet whose requests of any form empty their answers', () => {
  /** What the API has counted against each worker. */
  const incidents = () =>
    Promise.all(
      service.workers.map(({ address }) =>
        sample(service, `svc_api_worker_failures_total{worker="${address}"}`),
      ),
    );

  it.each([
    [{ logit_bias: { '2': 100 } }, sayNothing, 500, null, 2],
    [{ response_format: { type: 'json_object' } }, sayNothing, 500, null, 2],
    [{ stop: 'a' }, sayNothing, 200, 'stop', 2],
    [{ max_tokens: 2 }, sayNothing, 500, null, 2],
    [{ max_completion_tokens: 200 }, thinkToTheLimit, 200, 'length', 1],
    // The prompt alone can do it, too: of two workers both say nothing.
    [{}, sayNothing, 500, null, 2],
  ])(
    'by %j bears each itself, and no worker does [failures.abuse]',
    async (body, script, status, finishReason, times) => {
      upstream.answerWith(script);
      const { address, apiKey } = wallet;
      const before = await incidents();
      const count = ROUTED_FORMS.length;
      for (const [form, route] of ROUTED_FORMS) {
        const answer = await requestCompletion(service, { form, route, apiKey, body });
        expect(answer).toMatchObject({ status, text: '', finishReason });
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
      for (const route of ROUTES) {
        const refused = await requestCompletion(service, { form: 'plain', route, apiKey, body });
        expect(refused.status).toBe(403);
      }
    },
  );
});

describe.each(ROUTED_FORMS)('a request, %s of %s,', (form, route) => {
  const ask = (body: Record<string, unknown>) =>
    requestCompletion(service, { form, route, apiKey: wallet.apiKey, body });

  it('with a stop sequence that begins its text gets it empty, and free', async () => {
    upstream.answerWith((reply) => {
      reply.text('END of it');
      sayNothing(reply);
    });
    const answer = await ask({ stop: 'END' });
    expect(answer).toMatchObject({ status: 200, text: '', finishReason: 'stop', error: undefined });
    expect(answer.body).not.toContain('END');
    expect(await untilEnded(service, wallet.address, 1)).toMatchObject({ jobs: [EMPTY] });
  });

  it.each([
    ['a field', { top_k: 20 }, 'Unrecognized request argument: top_k', 'top_k'],
    ['a conversation', {}, 'turn by turn', null],
  ])(
    'with %s that is refused gets a 400, and pays nothing',
    async (_what, body, message, param) => {
      upstream.answerWith((reply) => reply.refuse(400, { error: { message } }));
      const { status, error } = await ask(body);
      expect([status, error]).toMatchObject([400, { code: 'invalid_request', param }]);
      expect(upstream.requests).toHaveLength(2);
      expect(await untilEnded(service, wallet.address, 1)).toMatchObject({ available: CREDITS });
    },
  );
});

describe.each(ROUTED_FORMS)(
  'a %s answer of %s to a request with response_format',
  (form, route) => {
    it.each([
      ['{"a": 1}', 'stop', true],
      ['A is 1.', 'stop', false],
      ['{"a": ', 'length', null],
      ['{"a": ', 'content_filter', null],
    ] as const)(
      '%j, ended by %s, says %j, also again, and is charged',
      async (text, reason, isKept) => {
        upstream.answerWith((reply) => {
          reply.text(text);
          reply.complete(reason);
        });
        const { address, apiKey } = wallet;
        const schema = { type: 'object', required: ['a'] };
        const response_format = { type: 'json_schema', json_schema: { name: 'a', schema } };
        const headers = { 'idempotency-key': randomUUID() };
        for (let times = 0; times < 2; times += 1) {
          const asking = { form, route, apiKey, headers, body: { response_format } };
          const answer = await requestCompletion(service, asking);
          expect(answer).toMatchObject({ text, finishReason: reason, error: undefined });
          expect(answer.body).toContain(`"format_kept":${isKept}`);
        }
        expect(await untilEnded(service, address, 1)).toMatchObject({
          jobs: [{ status: 'settled', charged: 8n }],
        });
      },
    );
  },
);

describe('a client that leaves while its model still thinks', () => {
  it.each(ROUTES)('pays nothing, and its upstream is aborted: %s', async (route) => {
    const { promise: left, resolve: leave } = Promise.withResolvers<unknown>();
    upstream.answerWith((reply) => {
      think(reply, 'Hm. ');
      leave(reply.closed);
    });
    const asked = { form: 'stream', route, apiKey: wallet.apiKey } as const;
    const response = await openCompletion(service, asked);
    await once(response, 'data');
    response.destroy();
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
