import { createHash } from 'node:crypto';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, Output, streamText } from 'ai';
import type OpenAI from 'openai';
import { BadRequestError } from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { boundTokens } from '../../common/tokenizers/tokenCounts.ts';
import { isEnded } from '../../programs/client/accounts.ts';
import { chargeCredits } from '../../programs/client/pricing.ts';
import { untilEnded } from '../../testing/ledger/walletBooks.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { createUpstreamEngine } from '../../worker/engine/upstream.ts';
import { type Reply, startUpstream, type UpstreamServer } from '../worker/upstreamServer.ts';

const CREDITS = 1_000n;
const THOUGHTS = ['The user greets. ', 'I greet back.'];
const TEXT = 'Good morning to you.';
const messages = [{ role: 'user' as const, content: 'Say hello.' }];
const FORMS = [{ stream: false }, { stream: true }];

let service: RunningService;
/** Both workers have it. */
let upstream: UpstreamServer;
let wallet: Awaited<ReturnType<RunningService['addWallet']>>;

beforeAll(async () => {
  upstream = await startUpstream();
  const engine = () => createUpstreamEngine({ url: upstream.url });
  service = await startRunningService({ workers: [engine(), engine()] });
});

beforeEach(async () => {
  wallet = await service.addWallet(CREDITS);
  upstream.requests.length = 0;
});

afterAll(async () => {
  await service?.close();
  upstream?.close();
});

function think(reply: Reply, text: string): void {
  const delta = { reasoning_content: text };
  reply.raw(JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] }));
}

function end(reply: Reply, usage?: object, reason = 'stop'): void {
  reply.finish(reason);
  if (usage) reply.raw(JSON.stringify({ choices: [], usage: { prompt_tokens: 5, ...usage } }));
  reply.done();
  reply.end();
}

/** Thinks, answers with the text, and reports this usage. */
function answerWith(text: string, usage?: object): void {
  upstream.answerWith((reply) => {
    for (const thought of THOUGHTS) think(reply, thought);
    if (text) reply.text(text);
    end(reply, usage);
  });
}

/** What the official client reads: its types lack the reasoning, as those of the format do. */
interface Read {
  reasoning: string;
  text: string;
  finishReason: string | undefined;
  usage: OpenAI.CompletionUsage | undefined;
  error: unknown;
}

async function complete(
  { stream }: { stream: boolean },
  fields: object = {},
  headers: Record<string, string> = {},
): Promise<Read> {
  const read: Read = {
    ...{ reasoning: '', text: '', finishReason: undefined },
    ...{ usage: undefined, error: undefined },
  };
  const { completions } = service.openai({ apiKey: wallet.apiKey }).chat;
  const body = { model: service.model.id, messages, ...fields };
  const take = (part: { content?: string | null; reasoning_content?: string }): void => {
    read.reasoning += part.reasoning_content ?? '';
    read.text += part.content ?? '';
  };
  try {
    if (stream) {
      const options = { stream: true, stream_options: { include_usage: true } } as const;
      for await (const chunk of await completions.create({ ...body, ...options }, { headers })) {
        const [choice] = chunk.choices;
        if (choice) take(choice.delta);
        read.finishReason = choice?.finish_reason ?? read.finishReason;
        read.usage = chunk.usage ?? read.usage;
      }
    } else {
      const { choices, usage } = await completions.create(body, { headers });
      if (choices[0]) take(choices[0].message);
      read.finishReason = choices[0]?.finish_reason;
      read.usage = usage;
    }
  } catch (error) {
    read.error = error;
  }
  return read;
}

/** How the wallet's only job ended. */
async function onlyJob() {
  const { jobs, available } = await untilEnded(service, wallet.address, 1);
  await service.expectConserved();
  return { ...jobs[0], available };
}

describe.each(FORMS)('the reasoning of an answer (%j)', (form) => {
  it('reaches the official client, outside the proven text and the charge [completions.reasoning]', async () => {
    answerWith(TEXT, {
      completion_tokens: 904,
      completion_tokens_details: { reasoning_tokens: 900 },
    });
    expect(await complete(form)).toMatchObject({
      ...{ reasoning: THOUGHTS.join(''), text: TEXT, finishReason: 'stop' },
      usage: { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 },
    });
    expect(await onlyJob()).toMatchObject({ status: 'settled', charged: 8n });
    await service.untilMirrored();
    const { data } = await service.get('/v1/jobs', wallet.apiKey);
    const hash = createHash('sha256').update(TEXT, 'utf8').digest('hex');
    expect(data[0]).toMatchObject({
      usage: { completion_tokens: 4 },
      on_chain: { proof_hash: `sha256:${hash}` },
    });
  });

  it.each([
    ['does not count it', {}],
    ['lies that it has none', { completion_tokens_details: { reasoning_tokens: 0 } }],
  ])('costs nothing where its upstream %s', async (_how, details) => {
    const text = 'Good morning to you, and to everybody else in town. '.repeat(60);
    answerWith(text, { completion_tokens: 4_900, ...details });
    const { usage } = await complete(form, { max_tokens: 5_000 });
    const bound = boundTokens(text);
    expect(usage?.completion_tokens).toBe(bound);
    const { creditsPerRequest, creditsPer1kTokens } = service.model;
    const price = {
      ...{ creditsPerRequest, creditsPer1kTokens },
      longCompletionThresholdTokens: 500,
    };
    expect(await onlyJob()).toMatchObject({ charged: chargeCredits(price, bound, 20n) });
  });

  it('is given again to a repeat of the request', async () => {
    answerWith(TEXT);
    const headers = { 'idempotency-key': `thoughts-${form.stream}` };
    const first = await complete(form, {}, headers);
    await onlyJob();
    expect(await complete(form, {}, headers)).toEqual(first);
    expect(upstream.requests).toHaveLength(1);
  });

  it('makes an empty answer without a charge when it uses up the token limit', async () => {
    const thought = 'I wonder what to say. '.repeat(4);
    upstream.answerWith((reply) => {
      think(reply, thought);
      end(reply, undefined, 'length');
    });
    expect(await complete(form, { max_tokens: 20 })).toMatchObject({
      ...{ reasoning: thought, text: '', finishReason: 'length', error: undefined },
      usage: { completion_tokens: 0 },
    });
    expect(upstream.requests).toHaveLength(1);
    expect(await onlyJob()).toMatchObject({
      ...{ status: 'failed', reason: 'empty_output', charged: 0n, available: CREDITS },
    });
  });

  it('is an error without content, and costs nothing', async () => {
    answerWith('');
    const { error, text } = await complete(form);
    expect([text, error]).toEqual(['', expect.objectContaining({ code: 'worker_failed' })]);
    expect(await onlyJob()).toMatchObject({
      ...{ status: 'failed', reason: 'empty_output', charged: 0n, available: CREDITS },
    });
  });

  it('begins a stream, which stays with its worker, unlike a plain answer', async () => {
    upstream.answerWith((reply) => {
      if (upstream.requests.length > 1) {
        think(reply, 'Again. ');
        reply.text(TEXT);
        return end(reply);
      }
      think(reply, 'At first. ');
      reply.break();
    });
    const { reasoning, text, error } = await complete(form);
    if (form.stream) {
      expect([reasoning, text]).toEqual(['At first. ', '']);
      expect(error).toMatchObject({ code: 'worker_failed' });
    } else expect([reasoning, text, error]).toEqual(['Again. ', TEXT, undefined]);
    expect(upstream.requests).toHaveLength(form.stream ? 1 : 2);
    expect(await onlyJob()).toMatchObject({
      charged: form.stream ? 0n : 8n,
      status: form.stream ? 'failed' : 'settled',
    });
  });

  it("comes with the empty answer of a client's own stop sequence", async () => {
    answerWith('END of it');
    expect(await complete(form, { stop: 'END' })).toMatchObject({
      ...{ reasoning: THOUGHTS.join(''), text: '', finishReason: 'stop', error: undefined },
    });
    expect(await onlyJob()).toMatchObject({ status: 'failed', charged: 0n });
  });
});

describe('the Vercel AI SDK', () => {
  const model = () =>
    createOpenAICompatible({
      ...{ name: 'svc', baseURL: `${service.baseUrl}/v1`, apiKey: wallet.apiKey },
    })(service.model.id);

  it('shows the reasoning apart from the text, plain and streamed', async () => {
    answerWith(TEXT);
    const plain = await generateText({ model: model(), prompt: 'Say hello.' });
    expect([plain.reasoningText, plain.text]).toEqual([THOUGHTS.join(''), TEXT]);
    const stream = streamText({ model: model(), prompt: 'Say hello.' });
    expect([await stream.reasoningText, await stream.text]).toEqual([THOUGHTS.join(''), TEXT]);
  });
});

describe('a client that leaves while its model still thinks', () => {
  it('pays nothing, and its upstream is aborted', async () => {
    const { promise: left, resolve: leave } = Promise.withResolvers<unknown>();
    upstream.answerWith((reply) => {
      think(reply, 'Hm. ');
      leave(reply.closed);
    });
    const stream = await service.openai({ apiKey: wallet.apiKey }).chat.completions.create({
      ...{ model: service.model.id, messages, stream: true },
    });
    for await (const chunk of stream) {
      if ('reasoning_content' in (chunk.choices[0]?.delta ?? {})) break;
    }
    await left;
    expect(await onlyJob()).toMatchObject({
      ...{ status: 'failed', reason: 'client_gone', charged: 0n, available: CREDITS },
    });
  });
});

/** Answers without a thought. */
function say(text: string, reason = 'stop'): void {
  upstream.answerWith((reply) => {
    if (text !== '') reply.text(text);
    reply.complete(reason, 5, 1);
  });
}

/** The job that ended last. */
async function lastJob() {
  await service.untilJobs((jobs) => jobs.every(({ data }) => isEnded(data.status)));
  await service.untilMirrored();
  return (await service.get('/v1/jobs?limit=1')).data[0];
}

const create = (fields: object) =>
  service.openai().chat.completions.create({ model: service.model.id, messages, ...fields });

describe('fields for the model server', () => {
  it('reach it as they were sent', async () => {
    say('Basel');
    const fields = {
      ...{ top_k: 20, min_p: 0.1, repetition_penalty: 1.2, reasoning_effort: 'low' },
      ...{ logit_bias: { '17': -100 }, chat_template_kwargs: { enable_thinking: false } },
      response_format: { type: 'json_object' },
    };
    await create({ ...fields, user: 'somebody', metadata: { trace: '1' } });
    expect(upstream.requests.at(-1)?.body).toMatchObject(fields);
    expect(upstream.requests.at(-1)?.body).not.toHaveProperty('user');
  });

  it.each([{ stream: false }, { stream: true }])(
    'are a 400 with their name, without a charge, where it refuses one: %j',
    async (form) => {
      const message = 'Unrecognized request argument: top_k';
      upstream.answerWith((reply) => reply.refuse(400, { error: { message } }));
      const error = await create({ top_k: 20, ...form }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(BadRequestError);
      expect(error).toMatchObject({ code: 'invalid_request', param: 'top_k' });
      expect(await lastJob()).toMatchObject({
        ...{ status: 'failed', credits_charged: 0 },
        worker_address: expect.stringMatching(
          service.workers.map(({ address }) => address).join('|'),
        ),
      });
    },
  );
});

describe('a conversation that the model server refuses', () => {
  it.each(FORMS)('is one 400, asked of two workers, and free: %j', async (form) => {
    upstream.answerWith((reply) => reply.refuse(400, { error: { message: 'turn by turn' } }));
    const error = await create(form).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ code: 'invalid_request', param: null });
    expect(upstream.requests).toHaveLength(2);
    expect(await lastJob()).toMatchObject({ status: 'failed', credits_charged: 0 });
    say('Basel');
    const { choices } = await create({});
    expect(choices[0]?.message.content).toBe('Basel');
  });
});

describe("an answer that the client's own stop sequence begins", () => {
  it('is empty and free', async () => {
    say('END of it');
    const { choices, usage } = await create({ stop: 'END' });
    expect(choices[0]).toMatchObject({ message: { content: '' }, finish_reason: 'stop' });
    expect(usage?.completion_tokens).toBe(0);
    expect(await lastJob()).toMatchObject({ status: 'failed', credits_charged: 0 });
  });

  it('is an empty and free stream', async () => {
    say('END of it');
    const stream = await service.openai().chat.completions.create({
      ...{ model: service.model.id, messages, stop: 'END', stream: true },
    });
    const reasons: unknown[] = [];
    for await (const { choices } of stream) {
      expect(choices[0]?.delta.content ?? '').toBe('');
      reasons.push(choices[0]?.finish_reason);
    }
    expect(reasons.at(-1)).toBe('stop');
    expect(await lastJob()).toMatchObject({ status: 'failed', credits_charged: 0 });
  });
});

describe('an answer that the model server filters', () => {
  it.each([{ stream: false }, { stream: true }])(
    'keeps its finish reason: %j',
    async ({ stream }) => {
      say('Basel', 'content_filter');
      const openai = service.openai().chat.completions;
      if (!stream) {
        const { choices } = await openai.create({ model: service.model.id, messages });
        expect(choices[0]?.finish_reason).toBe('content_filter');
        return;
      }
      const reasons: unknown[] = [];
      const chunks = await openai.create({ model: service.model.id, messages, stream: true });
      for await (const { choices } of chunks) reasons.push(choices[0]?.finish_reason);
      expect(reasons.at(-1)).toBe('content_filter');
    },
  );
});

describe('structured output', () => {
  const city = z.object({ city: z.string() });
  const ANSWER = { city: 'Basel' };

  const isAsked = () =>
    expect(upstream.requests.at(-1)?.body).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { schema: { type: 'object' } } },
    });

  it("is parsed by the official client's parse", async () => {
    say(JSON.stringify(ANSWER));
    const { choices } = await service.openai().chat.completions.parse({
      ...{ model: service.model.id, messages },
      response_format: zodResponseFormat(city, 'city'),
    });
    expect(choices[0]?.message.parsed).toEqual(ANSWER);
    isAsked();
  });

  it("is parsed by LangChain's withStructuredOutput", async () => {
    say(JSON.stringify(ANSWER));
    const model = new ChatOpenAI({
      ...{ model: service.model.id, apiKey: service.apiKey, maxRetries: 0 },
      configuration: { baseURL: `${service.baseUrl}/v1` },
    });
    const structured = model.withStructuredOutput(city, { method: 'jsonSchema' });
    expect(await structured.invoke('Which city?')).toEqual(ANSWER);
    isAsked();
  });

  it("is parsed by the Vercel AI SDK's object output", async () => {
    say(JSON.stringify(ANSWER));
    const provider = createOpenAICompatible({
      ...{ name: 'svc', baseURL: `${service.baseUrl}/v1`, apiKey: service.apiKey },
      supportsStructuredOutputs: true,
    });
    const { output } = await generateText({
      ...{ model: provider(service.model.id), prompt: 'Which city?' },
      output: Output.object({ schema: city }),
    });
    expect(output).toEqual(ANSWER);
    isAsked();
  });
});
