import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createParser } from 'eventsource-parser';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';

/** What the public specification, Open Responses, requires of the answer object. */
const REQUIRED = [
  ...['id', 'object', 'created_at', 'completed_at', 'status', 'incomplete_details', 'model'],
  ...['previous_response_id', 'instructions', 'output', 'error', 'tools', 'tool_choice'],
  ...['truncation', 'parallel_tool_calls', 'text', 'top_p', 'presence_penalty', 'temperature'],
  ...['frequency_penalty', 'top_logprobs', 'reasoning', 'usage', 'max_output_tokens', 'store'],
  ...['max_tool_calls', 'background', 'service_tier', 'metadata', 'safety_identifier'],
  'prompt_cache_key',
];
const CONTENT = ['annotations', 'logprobs', 'text', 'type'];
/** Of each type of item, and of each kind of event by the end of its type. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  message: ['content', 'id', 'role', 'status', 'type'],
  function_call: ['arguments', 'call_id', 'id', 'name', 'status', 'type'],
  'output_item.added': ['item', 'output_index'],
  'content_part.added': ['content_index', 'item_id', 'output_index', 'part'],
  'output_text.delta': ['content_index', 'delta', 'item_id', 'logprobs', 'output_index'],
  'output_text.done': ['content_index', 'item_id', 'logprobs', 'output_index', 'text'],
  'content_part.done': ['content_index', 'item_id', 'output_index', 'part'],
  'function_call_arguments.delta': ['delta', 'item_id', 'output_index'],
  'function_call_arguments.done': ['arguments', 'item_id', 'name', 'output_index'],
  'output_item.done': ['item', 'output_index'],
};

const message = (content: unknown, role = 'user') => ({ type: 'message', role, content });
const PARAMETERS = { type: 'object', properties: { place: { type: 'string' } } };
const tool = { type: 'function', name: 'get_weather', parameters: PARAMETERS };

/** The cases of its public test suite that a server without a store can meet, in our words. */
const CASES: Readonly<Record<string, object>> = {
  'a basic text': { input: [message('Greet me in three words.')] },
  'a system prompt': { input: [message('Speak like a sailor.', 'system'), message('Greet me.')] },
  'a call of a tool': { input: [message('How is it outside? Use get_weather.')], tools: [tool] },
  'a conversation': {
    input: [message('I am Ada.'), message('Hello, Ada.', 'assistant'), message('Who am I?')],
  },
};

let service: RunningService;
beforeAll(async () => {
  service = await startRunningService({ apiSettings: { SVC_PREVIEW: 'tools' } });
});
afterAll(() => service?.close());

const ask = (body: object, method = 'POST', path = 'responses') =>
  fetch(`${service.baseUrl}/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${service.apiKey}` },
    ...(method === 'POST' && { body: JSON.stringify({ model: service.model.id, ...body }) }),
  });

/** A whole answer, or an error. */
const jsonOf = async (answer: Promise<Response>) => JSON.parse(await (await answer).text());

interface Item {
  type: string;
  content?: object[];
}

function expectWhole(response: { status: string; output: Item[] }, type: string): void {
  expect(Object.keys(response)).toEqual(expect.arrayContaining(REQUIRED));
  expect(response.status).toBe('completed');
  expect(response.output.map((item) => item.type)).toEqual([type]);
  const [item] = response.output;
  expect(Object.keys(item ?? {}).sort()).toEqual(FIELDS[type]);
  for (const part of item?.content ?? []) expect(Object.keys(part).sort()).toEqual(CONTENT);
}

describe.each(Object.entries(CASES))('%s of the public conformance cases', (name, body) => {
  const type = name.includes('call') ? 'function_call' : 'message';

  it('is a whole response', async () => {
    expectWhole(await jsonOf(ask(body)), type);
  });

  it('is a stream of events with their fields, whose last one has it', async () => {
    const answer = await ask({ ...body, stream: true });
    const ends: Parameters<typeof expectWhole>[0][] = [];
    const parser = createParser({
      onEvent({ event = '', data }) {
        if (data === '[DONE]') return;
        const { type: own, sequence_number, response, ...fields } = JSON.parse(data);
        expect([event, typeof sequence_number]).toEqual([own, 'number']);
        const expected = FIELDS[own.replace('response.', '')];
        if (response === undefined) expect(Object.keys(fields).sort()).toEqual(expected);
        else if (own === 'response.completed') ends.push(response);
        else expect(Object.keys(response)).toEqual(expect.arrayContaining(REQUIRED));
      },
    });
    parser.feed(await answer.text());
    expect(ends).toHaveLength(1);
    for (const end of ends) expectWhole(end, type);
  });
});

describe('responses', () => {
  it('are listed among the endpoints of a model', async () => {
    const { data } = await service.get('/v1/models');
    expect(data[0].svc.endpoints).toEqual(['/v1/chat/completions', '/v1/responses']);
  });

  it('name the types of tools that were left out, in a header', async () => {
    const tools = [{ type: 'namespace', name: 'x', tools: [] }, { type: 'web_search' }, tool];
    const { status, headers } = await ask({ input: 'Hi.', tools });
    expect([status, headers.get('x-svc-left-out-tools')]).toEqual([200, 'namespace, web_search']);
    expect((await ask({ input: 'Hi.' })).headers.has('x-svc-left-out-tools')).toBe(false);
  });

  it.each(['GET', 'DELETE'])('are not stored, but their job is: %s', async (method) => {
    const { id, svc } = await jsonOf(ask({ input: 'Hi.', store: true }));
    const { error } = await jsonOf(ask({}, method, `responses/${id}`));
    expect([error.code, error.message]).toEqual([
      'route_not_found',
      expect.stringMatching(new RegExp(`/v1/jobs/${svc.job_id}$`)),
    ]);
    expect(await service.get(`/v1/jobs/${svc.job_id}`)).toMatchObject({ status: 'settled' });
  });
});
