import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BadRequestError } from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';

// Structured output as it works beside `npm start`, where the workers have the built-in engine.

let service: RunningService;
beforeAll(async () => {
  service = await startRunningService();
});
afterAll(() => service.close());

const city = z.object({
  city: z.string().min(1),
  people: z.int().min(1_000),
  languages: z.array(z.enum(['German', 'French'])).min(1),
});
const SMALLEST = { city: 'a', people: 1_000, languages: ['German'] };

const messages = [{ role: 'user' as const, content: 'Which city is on the Rhine?' }];
const asked = () => ({ model: service.model.id, messages });
const completions = () => service.openai().chat.completions;

describe("structured output of the built-in engine, by the official client's helpers", () => {
  it('is parsed from a plain answer', async () => {
    const response_format = zodResponseFormat(city, 'city');
    const { choices } = await completions().parse({ ...asked(), response_format });
    expect(choices[0]).toMatchObject({ finish_reason: 'stop', message: { parsed: SMALLEST } });
  });

  it('is parsed from a stream', async () => {
    const response_format = zodResponseFormat(city, 'city');
    const stream = completions().stream({ ...asked(), response_format });
    let pieces = 0;
    stream.on('content', () => {
      pieces += 1;
    });
    const { choices } = await stream.finalChatCompletion();
    expect(choices[0]?.message.parsed).toEqual(SMALLEST);
    expect(pieces).toBeGreaterThan(1);
  });

  it('is an object where any is asked for', async () => {
    const response_format = { type: 'json_object' as const };
    const { choices } = await completions().create({ ...asked(), response_format });
    expect(choices[0]?.message.content).toBe('{}');
  });

  it('is cut at the token limit, as that of a model', async () => {
    const response_format = zodResponseFormat(city, 'city');
    const { choices } = await completions().create({ ...asked(), max_tokens: 2, response_format });
    expect(choices[0]).toMatchObject({
      finish_reason: 'length',
      message: { content: JSON.stringify(SMALLEST).slice(0, 8) },
    });
  });

  it('is refused with the name of the field where it finds no value', async () => {
    const schema = { type: 'string', pattern: '^[A-Z]{2}-\\d{4}$' };
    const response_format = { type: 'json_schema' as const, json_schema: { name: 'id', schema } };
    const refused = await completions()
      .create({ ...asked(), response_format })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(BadRequestError);
    expect(refused).toMatchObject({ code: 'invalid_request', param: 'response_format' });
  });
});
