import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ChatOpenAI } from '@langchain/openai';
import { APICallError, generateText, streamText } from 'ai';
import { isEnded } from '../../programs/client/accounts.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';

const PROMPT = 'Say hello.';
let service: RunningService;

beforeAll(async () => {
  service = await startRunningService();
});

afterAll(() => service.close());

/** How many jobs are settled, once none is under way. */
async function settledJobs(): Promise<number> {
  const jobs = await service.untilJobs((found) => found.every(({ data }) => isEnded(data.status)));
  return jobs.filter(({ data }) => data.status === 'settled').length;
}

describe('LangChain', () => {
  const model = (options: { apiKey?: string; maxTokens?: number } = {}) =>
    new ChatOpenAI({
      model: service.model.id,
      apiKey: service.apiKey,
      maxRetries: 0,
      configuration: { baseURL: `${service.baseUrl}/v1` },
      ...options,
    });

  it('gets a plain answer with its usage [completions.compatible]', async () => {
    const before = await settledJobs();
    const answer = await model({ maxTokens: 1_000 }).invoke(PROMPT);
    expect(answer.text).not.toBe('');
    expect(answer.response_metadata.finish_reason).toBe('stop');
    expect(answer.usage_metadata).toMatchObject({ output_tokens: expect.any(Number) });
    expect(await settledJobs()).toBe(before + 1);
  });

  it('gets a stream whose chunks add up to an answer, with the usage at the end', async () => {
    const before = await settledJobs();
    const pieces: string[] = [];
    const usages: unknown[] = [];
    for await (const { text, usage_metadata } of await model().stream(PROMPT)) {
      if (text) pieces.push(text);
      if (usage_metadata) usages.push(usage_metadata);
    }
    expect(pieces.length).toBeGreaterThan(1);
    expect(usages).toEqual([expect.objectContaining({ total_tokens: expect.any(Number) })]);
    expect(await settledJobs()).toBe(before + 1);
  });

  it('throws its own authentication error for a wrong key', async () => {
    const wrong = `svc_live_${'x'.repeat(32)}`;
    await expect(model({ apiKey: wrong }).invoke(PROMPT)).rejects.toMatchObject({
      status: 401,
      code: 'invalid_api_key',
    });
  });
});

describe('the Vercel AI SDK', () => {
  const model = (apiKey = service.apiKey) =>
    createOpenAICompatible({
      name: 'svc',
      baseURL: `${service.baseUrl}/v1`,
      apiKey,
      includeUsage: true,
    })(service.model.id);

  it('gets a plain answer with its usage [completions.compatible]', async () => {
    const before = await settledJobs();
    const { text, finishReason, usage } = await generateText({ model: model(), prompt: PROMPT });
    expect(text).not.toBe('');
    expect(finishReason).toBe('stop');
    expect(usage.outputTokens).toBeGreaterThan(0);
    expect(await settledJobs()).toBe(before + 1);
  });

  it('gets a stream that ends with the usage', async () => {
    const before = await settledJobs();
    const { textStream, finishReason, usage } = streamText({ model: model(), prompt: PROMPT });
    let text = '';
    for await (const piece of textStream) text += piece;
    expect(text).not.toBe('');
    expect(await finishReason).toBe('stop');
    expect((await usage).totalTokens).toBeGreaterThan(0);
    expect(await settledJobs()).toBe(before + 1);
  });

  it('throws its own authentication error for a wrong key', async () => {
    const wrong = `svc_live_${'x'.repeat(32)}`;
    const failing = generateText({ model: model(wrong), prompt: PROMPT, maxRetries: 0 });
    const error = await failing.catch((thrown: unknown) => thrown);
    expect(APICallError.isInstance(error) && [error.statusCode, error.isRetryable]).toEqual([
      401,
      false,
    ]);
  });
});
