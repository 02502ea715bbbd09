import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, Output } from 'ai';
import { BadRequestError } from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { isEnded } from '../../programs/client/accounts.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { createUpstreamEngine } from '../../worker/engine/upstream.ts';
import { startUpstream, type UpstreamServer } from '../worker/upstreamServer.ts';

const messages = [{ role: 'user' as const, content: 'Which city?' }];
const city = z.object({ city: z.string() });
const ANSWER = { city: 'Basel' };
let service: RunningService;
let upstream: UpstreamServer;

beforeAll(async () => {
  upstream = await startUpstream();
  service = await startRunningService({ workers: [createUpstreamEngine({ url: upstream.url })] });
});

afterAll(async () => {
  await service?.close();
  upstream?.close();
});

function answerWith(text: string, reason = 'stop'): void {
  upstream.answerWith((reply) => {
    if (text !== '') reply.text(text);
    reply.finish(reason);
    reply.usage(5, 1);
    reply.done();
    reply.end();
  });
}

/** The job that ended last. */
async function lastJob() {
  await service.untilJobs((jobs) => jobs.every(({ data }) => isEnded(data.status)));
  await service.untilMirrored();
  return (await service.get('/v1/jobs?limit=1')).data[0];
}

const complete = (fields: object) =>
  service.openai().chat.completions.create({ model: service.model.id, messages, ...fields });

describe('fields for the model server', () => {
  it('reach it as they were sent', async () => {
    answerWith('Basel');
    const fields = {
      ...{ top_k: 20, min_p: 0.1, repetition_penalty: 1.2, reasoning_effort: 'low' },
      ...{ logit_bias: { '17': -100 }, chat_template_kwargs: { enable_thinking: false } },
      response_format: { type: 'json_object' },
    };
    await complete({ ...fields, user: 'somebody', metadata: { trace: '1' } });
    expect(upstream.requests.at(-1)?.body).toMatchObject(fields);
    expect(upstream.requests.at(-1)?.body).not.toHaveProperty('user');
  });

  it.each([{ stream: false }, { stream: true }])(
    'are a 400 with their name, without a charge, where it refuses one: %j',
    async (form) => {
      const message = 'Unrecognized request argument: top_k';
      upstream.answerWith((reply) => reply.refuse(400, { error: { message } }));
      const error = await complete({ top_k: 20, ...form }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(BadRequestError);
      expect(error).toMatchObject({ code: 'invalid_request', param: 'top_k' });
      expect(await lastJob()).toMatchObject({
        ...{ status: 'failed', credits_charged: 0 },
        worker_address: service.workers[0]?.address,
      });
    },
  );
});

describe("an answer that the client's own stop sequence begins", () => {
  it('is empty and free', async () => {
    answerWith('END of it');
    const { choices, usage } = await complete({ stop: 'END' });
    expect(choices[0]).toMatchObject({ message: { content: '' }, finish_reason: 'stop' });
    expect(usage?.completion_tokens).toBe(0);
    expect(await lastJob()).toMatchObject({ status: 'failed', credits_charged: 0 });
  });

  it('is an empty and free stream', async () => {
    answerWith('END of it');
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
      answerWith('Basel', 'content_filter');
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
  const isAsked = () =>
    expect(upstream.requests.at(-1)?.body).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { schema: { type: 'object' } } },
    });

  it("is parsed by the official client's parse", async () => {
    answerWith(JSON.stringify(ANSWER));
    const { choices } = await service.openai().chat.completions.parse({
      ...{ model: service.model.id, messages },
      response_format: zodResponseFormat(city, 'city'),
    });
    expect(choices[0]?.message.parsed).toEqual(ANSWER);
    isAsked();
  });

  it("is parsed by LangChain's withStructuredOutput", async () => {
    answerWith(JSON.stringify(ANSWER));
    const model = new ChatOpenAI({
      ...{ model: service.model.id, apiKey: service.apiKey, maxRetries: 0 },
      configuration: { baseURL: `${service.baseUrl}/v1` },
    });
    const structured = model.withStructuredOutput(city, { method: 'jsonSchema' });
    expect(await structured.invoke('Which city?')).toEqual(ANSWER);
    isAsked();
  });

  it("is parsed by the Vercel AI SDK's object output", async () => {
    answerWith(JSON.stringify(ANSWER));
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
