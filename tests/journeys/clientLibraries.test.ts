import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ChatOpenAI } from '@langchain/openai';
import { APICallError, generateText, Output, stepCountIs, streamText, tool } from 'ai';
import type OpenAI from 'openai';
import {
  APIError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  PermissionDeniedError,
} from 'openai';
import {
  zodFunction,
  zodResponseFormat,
  zodResponsesFunction,
  zodTextFormat,
} from 'openai/helpers/zod';
import { z } from 'zod';
import { suspendWallet } from '../../api/account/suspensions.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';

const PROMPT = 'Say hello.';
const messages = [{ role: 'user' as const, content: PROMPT }];
const wrongKey = `svc_live_${'x'.repeat(32)}`;
let service: RunningService;
let client: OpenAI;
let model: string;

beforeAll(async () => {
  service = await startRunningService({ apiSettings: { SVC_PREVIEW: 'tools' } });
  client = service.openai();
  model = service.model.id;
});

afterEach(() => service.workers[0]?.setMode('honest'));

afterAll(() => service.close());

async function refusal(work: Promise<unknown>): Promise<APIError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(APIError);
  return error as APIError;
}

describe('the official client with another base URL and key', () => {
  it('lists the models with their prices [models.list]', async () => {
    const page = await client.models.list();
    expect(page.data.map(({ id }) => id)).toContain(model);
    expect(page.data[0]).toMatchObject({
      object: 'model',
      svc: {
        tier: 'standard',
        credits_per_request: 8,
        credits_per_1k_tokens: 4,
        active_workers: 1,
      },
    });
    expect(await client.models.retrieve(model)).toMatchObject({ id: model, owned_by: 'Alibaba' });
  });

  it('gets a settled plain completion that is readable at once [completions.compatible] [completions.plain] [completions.plain-headers] [charging.credit-value] [charging.same-balance] [account.balance] [jobs.object]', async () => {
    const before = await service.account();
    const { data, response } = await client.chat.completions
      .create({ model, messages })
      .withResponse();
    const jobId = response.headers.get('x-svc-job-id') as string;
    expect(data).toMatchObject({
      id: `chatcmpl-${jobId}`,
      object: 'chat.completion',
      model,
      choices: [{ index: 0, message: { role: 'assistant' }, finish_reason: 'stop' }],
    });
    expect(data.choices[0]?.message.content).not.toBe('');
    const { prompt_tokens, completion_tokens, total_tokens } = data.usage as OpenAI.CompletionUsage;
    expect(total_tokens).toBe(prompt_tokens + completion_tokens);
    expect(data.usage).toMatchObject({
      cost: 0.08,
      completion_tokens_details: { reasoning_tokens: 0 },
    });
    expect(response.headers.get('x-svc-worker')).toBe(service.workers[0]?.address);
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);

    const job = await service.get(`/v1/jobs/${jobId}`);
    expect(job).toMatchObject({
      id: jobId,
      object: 'job',
      status: 'settled',
      credits_charged: 8,
      usdc_value: 0.08,
      usage: { prompt_tokens, completion_tokens, total_tokens },
      on_chain: {
        escrow_tx: response.headers.get('x-svc-tx-signature'),
        settlement_tx: response.headers.get('x-svc-settlement-tx'),
        proof_hash: response.headers.get('x-svc-output-hash'),
      },
    });
    expect(data).toMatchObject({
      svc: {
        job_id: jobId,
        worker: service.workers[0]?.address,
        attempt: 1,
        credits_charged: 8,
        usdc_value: 0.08,
        output_hash: response.headers.get('x-svc-output-hash'),
        request_salt: expect.stringMatching(/^[0-9a-f]{64}$/),
        delivery_receipt: response.headers.get('x-svc-delivery-receipt'),
        escrow_tx: response.headers.get('x-svc-tx-signature'),
        settlement_tx: response.headers.get('x-svc-settlement-tx'),
      },
    });
    const after = await service.get('/v1/account');
    expect(after).toMatchObject({ credits_remaining: Number(before.availableCredits) - 8 });
    expect(response.headers.get('x-svc-credits-remaining')).toBe(`${after.credits_remaining}`);
  });

  it('gets a stream of role, text, finish reason, and usage on request [completions.stream] [completions.stream-usage]', async () => {
    const asked = {
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    } as const;
    const chunks = [];
    for await (const chunk of await client.chat.completions.create(asked)) chunks.push(chunk);
    const [usage, finish, ...others] = chunks.toReversed();
    expect(others.at(-1)?.choices[0]?.delta.role).toBe('assistant');
    expect(others.every(({ choices }) => choices[0]?.finish_reason === null)).toBe(true);
    expect(others.some(({ choices }) => choices[0]?.delta.content)).toBe(true);
    expect(finish?.choices[0]).toMatchObject({ delta: {}, finish_reason: 'stop' });
    expect(usage).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  it('sees that max_tokens cut the answer [completions.max-tokens]', async () => {
    const answer = await client.chat.completions.create({ model, messages, max_tokens: 3 });
    expect(answer.choices[0]?.finish_reason).toBe('length');
    expect(answer.usage?.completion_tokens).toBeLessThanOrEqual(3);
  });

  it('throws AuthenticationError for a wrong key [keys.unknown]', async () => {
    const wrong = service.openai({ apiKey: wrongKey });
    const error = await refusal(wrong.chat.completions.create({ model, messages }));
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({ status: 401, code: 'invalid_api_key' });
  });

  it('throws AuthenticationError for a missing key [keys.bearer] [errors.body]', async () => {
    const response = await fetch(`${service.baseUrl}/v1/models`);
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({
      error: {
        code: 'missing_api_key',
        message: expect.any(String),
        type: 'authentication_error',
        param: null,
        docs: `${service.baseUrl}/docs/errors#missing_api_key`,
      },
    });
  });

  it('throws BadRequestError for an unknown model, NotFoundError for a look-up [models.unknown]', async () => {
    const asked = await refusal(client.chat.completions.create({ model: 'nothing', messages }));
    expect(asked).toBeInstanceOf(BadRequestError);
    expect(asked).toMatchObject({ code: 'model_not_found', param: 'model' });
    const looked = await refusal(client.models.retrieve('nothing'));
    expect(looked).toBeInstanceOf(NotFoundError);
    expect(looked).toMatchObject({ code: 'model_not_found', type: 'not_found_error' });
  });

  it('gets available and required credits when they do not suffice [errors.insufficient-credits]', async () => {
    const poor = await service.addWallet(5n);
    const error = await refusal(
      service.openai({ apiKey: poor.apiKey }).chat.completions.create({ model, messages }),
    );
    expect(error).toMatchObject({
      status: 402,
      code: 'insufficient_credits',
      type: 'payment_error',
      error: {
        details: {
          credits_remaining: 5,
          credits_required: 8,
          tier: 'standard',
          affordable_max_tokens: 0,
        },
      },
    });
    expect(error.message).toContain('Buy credits in the web app');
  });

  it('throws PermissionDeniedError once its key is suspended [keys.suspended]', async () => {
    const wallet = await service.addWallet(100n);
    const suspended = service.openai({ apiKey: wallet.apiKey });
    await suspended.models.list();
    await suspendWallet(service.pool, wallet.address.toBase58());
    const error = await refusal(suspended.chat.completions.create({ model, messages }));
    expect(error).toBeInstanceOf(PermissionDeniedError);
    expect(error).toMatchObject({ status: 403, code: 'key_suspended' });
  });

  it('sees only the jobs of its wallet [jobs.unknown]', async () => {
    const { response } = await client.chat.completions.create({ model, messages }).withResponse();
    const jobId = response.headers.get('x-svc-job-id') as string;
    const other = await service.addWallet(100n);
    await expect(service.get(`/v1/jobs/${jobId}`, other.apiKey)).resolves.toMatchObject({
      error: { code: 'job_not_found' },
    });
    await expect(service.get('/v1/jobs', other.apiKey)).resolves.toEqual({
      object: 'list',
      data: [],
      has_more: false,
      next_cursor: null,
    });
  });
});

describe("the official client's responses", () => {
  const asked = () => ({ model, input: PROMPT });

  it('are answers of the same job, with its cost and its evidence [completions.compatible]', async () => {
    const { data, response } = await client.responses.create(asked()).withResponse();
    const jobId = response.headers.get('x-svc-job-id') as string;
    expect(data).toMatchObject({
      ...{ id: `resp_${jobId}`, object: 'response', status: 'completed', model, error: null },
      svc: { job_id: jobId, credits_charged: 8, output_hash: expect.any(String) },
      usage: { cost: 0.08, output_tokens: expect.any(Number) },
    });
    expect(data.output_text).toMatch(/\w/);
    expect(await service.get(`/v1/jobs/${jobId}`)).toMatchObject({
      ...{ id: jobId, status: 'settled', credits_charged: 8 },
    });
  });

  it('come as events, which the helper of streams puts together', async () => {
    const events = [];
    for await (const event of await client.responses.create({ ...asked(), stream: true })) {
      events.push(event);
    }
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...events.keys()]);
    expect(events.at(-1)).toMatchObject({
      ...{ type: 'response.completed', response: { svc: { credits_charged: 8 } } },
    });
    const pieces: string[] = [];
    const stream = client.responses.stream(asked());
    stream.on('response.output_text.delta', ({ delta }) => void pieces.push(delta));
    const whole = await stream.finalResponse();
    expect(pieces.length).toBeGreaterThan(1);
    expect(whole.output_text).toBe(pieces.join(''));
    expect(whole).toMatchObject({ svc: { credits_charged: 8 } });
  });

  it('say that max_output_tokens cut them [completions.max-tokens]', async () => {
    const cut = await client.responses.create({ ...asked(), max_output_tokens: 3 });
    expect(cut).toMatchObject({
      ...{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    });
  });

  it('are refused by the same errors [keys.unknown] [models.unknown]', async () => {
    const wrong = service.openai({ apiKey: wrongKey });
    expect(await refusal(wrong.responses.create(asked()))).toBeInstanceOf(AuthenticationError);
    const unknown = await refusal(client.responses.create({ ...asked(), model: 'nothing' }));
    expect(unknown).toBeInstanceOf(BadRequestError);
    expect(unknown).toMatchObject({ code: 'model_not_found', param: 'model' });
    const stored = { ...asked(), previous_response_id: 'resp_1', stream: true } as const;
    expect(await refusal(client.responses.create(stored))).toMatchObject({
      ...{ status: 400, param: 'previous_response_id' },
    });
  });
});

/** Reads an answer that its worker breaks off, in each way of the official client. */
const BROKEN_OFF = {
  'chat.completions.create': async () => {
    const asked = { model, messages, stream: true } as const;
    for await (const _ of await client.chat.completions.create(asked));
  },
  'chat.completions.stream': () =>
    client.chat.completions.stream({ model, messages }).finalChatCompletion(),
  'responses.create': async () => {
    const asked = { model, input: PROMPT, stream: true } as const;
    for await (const _ of await client.responses.create(asked));
  },
  'responses.stream': () => client.responses.stream({ model, input: PROMPT }).finalResponse(),
};

describe('a stream that breaks off behind its first words', () => {
  it.each(Object.entries(BROKEN_OFF))('is thrown with its code by %s', async (_name, read) => {
    service.workers[0]?.setMode('dies_midstream');
    expect(await refusal(read())).toMatchObject({
      ...{ code: 'worker_failed', type: 'server_error' },
      error: { details: { credits_refunded: 8 } },
    });
  });
});

const city = z.object({ city: z.string().min(1), people: z.int().min(1_000) });

describe("structured output by the official client's helpers", () => {
  const asked = { messages, response_format: zodResponseFormat(city, 'city') };

  it('is parsed from a plain answer and from a stream', async () => {
    const { choices } = await client.chat.completions.parse({ ...asked, model });
    expect(choices[0]?.finish_reason).toBe('stop');
    city.parse(choices[0]?.message.parsed);
    const stream = client.chat.completions.stream({ ...asked, model });
    const streamed = await stream.finalChatCompletion();
    // The same request is answered alike.
    expect(streamed.choices[0]?.message.parsed).toEqual(choices[0]?.message.parsed);
  });

  it('is parsed from a response and from its stream', async () => {
    const given = { model, input: PROMPT, text: { format: zodTextFormat(city, 'city') } };
    const { output_parsed } = await client.responses.parse(given);
    city.parse(output_parsed);
    const streamed = await client.responses.stream(given).finalResponse();
    expect(streamed.output_parsed).toEqual(output_parsed);
  });
});

/** The built-in engine calls a tool that the question names, with a value of its schema. */
const TOOL_PROMPT = 'Count the people of the city by count_people.';
const name = 'count_people';
const counted: unknown[] = [];
const countPeople = (given: z.infer<typeof city>) => `${counted.push(given)} counted`;

describe("tools by the official client's helper", () => {
  it.each([false, true])('are called, and their results answered, streamed %s', async (stream) => {
    counted.length = 0;
    const tools = [
      zodFunction({ name, description: name, parameters: city, function: countPeople }),
    ];
    const asked = { model, tools, messages: [{ role: 'user' as const, content: TOOL_PROMPT }] };
    const runner = stream
      ? client.chat.completions.runTools({ ...asked, stream })
      : client.chat.completions.runTools(asked);
    expect(await runner.finalContent()).toMatch(/\w/);
    city.parse(counted[0]);
    const [called, ended] = runner.allChatCompletions();
    expect(called?.choices[0]?.finish_reason).toBe('tool_calls');
    expect(ended?.choices[0]?.finish_reason).toBe('stop');
  });

  it.each([false, true])('are called by a response, and answered, streamed %s', async (stream) => {
    const tools = [zodResponsesFunction({ name, parameters: city })];
    const asked = { model, tools, input: TOOL_PROMPT };
    const called = stream
      ? await client.responses.stream(asked).finalResponse()
      : await client.responses.parse(asked);
    const calls = called.output.filter((item) => item.type === 'function_call');
    city.parse(calls[0]?.parsed_arguments);
    const results = calls.map(({ call_id }) => ({
      ...{ type: 'function_call_output' as const, call_id, output: '1 counted' },
    }));
    const input = [{ role: 'user' as const, content: TOOL_PROMPT }, ...called.output, ...results];
    const given = { ...asked, input: input as OpenAI.Responses.ResponseInput };
    expect((await client.responses.create(given)).output_text).toMatch(/\w/);
  });
});

/** What LangChain has of how an answer ended: a response has a status. */
const reasonOf = ({ finish_reason, status }: Record<string, unknown>) => finish_reason ?? status;

describe.each([false, true])('LangChain, by responses: %s', (useResponsesApi) => {
  const chat = (apiKey = service.apiKey) =>
    new ChatOpenAI({
      ...{ model, apiKey, maxRetries: 0, useResponsesApi },
      configuration: { baseURL: `${service.baseUrl}/v1` },
    });

  it('gets plain, streamed and structured answers with their usage, and errors [completions.compatible]', async () => {
    const answer = await chat().invoke(PROMPT);
    expect(answer.text).not.toBe('');
    expect(reasonOf(answer.response_metadata)).toBe(useResponsesApi ? 'completed' : 'stop');
    expect(answer.usage_metadata).toMatchObject({ output_tokens: expect.any(Number) });
    const headers = { 'idempotency-key': `langchain-${useResponsesApi}` };
    const keyed = { options: { headers } };
    const { id } = await chat().invoke(PROMPT, keyed);
    expect(await chat().invoke(PROMPT, keyed)).toMatchObject({ id });
    const pieces: string[] = [];
    const usages: unknown[] = [];
    for await (const { text, usage_metadata } of await chat().stream(PROMPT)) {
      if (text) pieces.push(text);
      if (usage_metadata) usages.push(usage_metadata);
    }
    expect(pieces.length).toBeGreaterThan(1);
    expect(usages).toEqual([expect.objectContaining({ total_tokens: expect.any(Number) })]);
    const structured = chat().withStructuredOutput(city, { method: 'jsonSchema' });
    city.parse(await structured.invoke(PROMPT));
    await expect(chat(wrongKey).invoke(PROMPT)).rejects.toMatchObject({
      ...{ status: 401, code: 'invalid_api_key' },
    });
  });

  it('calls a bound tool and answers its result', async () => {
    const tools = [zodFunction({ name, description: name, parameters: city })];
    const agent = chat().bindTools(tools);
    const called = await agent.invoke(TOOL_PROMPT);
    expect(reasonOf(called.response_metadata)).toBe(useResponsesApi ? 'completed' : 'tool_calls');
    const [call] = called.tool_calls ?? [];
    city.parse(call?.args);
    const result = { role: 'tool', content: '1 counted', tool_call_id: call?.id ?? '' };
    expect((await agent.invoke([['user', TOOL_PROMPT], called, result])).text).toMatch(/\w/);
  });
});

/** The providers of the AI SDK for each format. */
const PROVIDERS = {
  '@ai-sdk/openai-compatible': (options: { baseURL: string; apiKey: string }) =>
    createOpenAICompatible({
      ...{ name: 'svc', includeUsage: true, supportsStructuredOutputs: true },
      ...options,
    }),
  '@ai-sdk/openai': createOpenAI,
};

describe.each(Object.entries(PROVIDERS))('the Vercel AI SDK with %s', (provider, create) => {
  const asked = (apiKey = service.apiKey) => ({
    prompt: PROMPT,
    maxRetries: 0,
    model: create({ baseURL: `${service.baseUrl}/v1`, apiKey })(model),
  });

  it('gets plain, streamed and structured answers with their usage, and errors [completions.compatible]', async () => {
    const { text, finishReason, usage } = await generateText(asked());
    expect([text === '', finishReason]).toEqual([false, 'stop']);
    expect(usage.outputTokens).toBeGreaterThan(0);
    const keyed = { ...asked(), headers: { 'idempotency-key': provider } };
    const { id } = (await generateText(keyed)).response;
    expect((await generateText(keyed)).response).toMatchObject({ id });
    const stream = streamText(asked());
    expect(await stream.text).not.toBe('');
    expect((await stream.usage).totalTokens).toBeGreaterThan(0);
    const output = Output.object({ schema: city });
    city.parse((await generateText({ ...asked(), output })).output);
    const error = await generateText(asked(wrongKey)).catch((thrown: unknown) => thrown);
    expect(APICallError.isInstance(error) && [error.statusCode, error.isRetryable]).toEqual([
      401,
      false,
    ]);
  });

  it('runs a tool between its steps, plain and streamed', async () => {
    const tools = { [name]: tool({ inputSchema: city, execute: countPeople }) };
    const agent = { ...asked(), tools, prompt: TOOL_PROMPT, stopWhen: stepCountIs(3) };
    for (const { text, steps } of [await generateText(agent), streamText(agent)]) {
      expect(await text).toMatch(/\w/);
      const reasons = (await steps).map(({ finishReason }) => finishReason);
      expect(reasons).toEqual(['tool-calls', 'stop']);
    }
  });

  it('shows a stream that breaks off as an error', async () => {
    service.workers[0]?.setMode('dies_midstream');
    const errors: unknown[] = [];
    const { text, finishReason } = streamText({
      ...asked(),
      onError: ({ error }) => void errors.push(error),
    });
    await text;
    expect(await finishReason).toBe('error');
    expect(String(errors)).toContain('No worker produced a proven answer');
  });
});

describe('the Vercel AI SDK with @ai-sdk/openai, of an earlier answer', () => {
  it('sends the answer itself with store false, which the 400 asks for', async () => {
    const openai = createOpenAI({ baseURL: `${service.baseUrl}/v1`, apiKey: service.apiKey });
    const asked = { model: openai(model), maxRetries: 0 };
    const { responseMessages } = await generateText({ ...asked, prompt: PROMPT });
    const again = { ...asked, messages: [...messages, ...responseMessages, ...messages] };
    await expect(generateText(again)).rejects.toThrow(/send the item itself.*store.*false/);
    const whole = { ...again, providerOptions: { openai: { store: false } } };
    expect((await generateText(whole)).text).toMatch(/\w/);
  });
});
