import { describe, expect, it } from '@jest/globals';
import { ApiError } from '../../api/contracts/errors.ts';
import { createResponsesParser } from '../../api/contracts/responses.ts';
import { buildDocument } from '../../api/docs/document.ts';
import type { Schema } from '../../api/docs/openApi.ts';
import { chatForWorker } from '../../api/jobs/admission.ts';
import { createResponsesFormat } from '../../api/response/responsesFormat.ts';
import { MESSAGES_MAX, TOOL_CALLS_MAX } from '../../common/workerProtocol.ts';
import { canonicalJson, type Json } from '../../programs/client/proof.ts';
import { RESPONSES_FIELDS } from '../../programs/client/verify/answer/requestFields.ts';
import { readRequest } from '../../programs/client/verify/answer/sentRequest.ts';
import { createRandom } from '../../testing/random.ts';
import { createFuzzValues } from './fuzzValues.ts';

const random = createRandom();
const parse = createResponsesParser({ tools: true });
const parseWithoutTools = createResponsesParser({ tools: false });
const valid = { model: 'm', input: 'Hi.' };

const user = (content: unknown) => ({ role: 'user', content });
const said = (content: unknown) => ({ type: 'message', role: 'assistant', content });
const call = (id: string, name = 'f') => ({
  ...{ type: 'function_call', id: `fc_${id}`, status: 'completed' },
  ...{ call_id: id, name, arguments: '{}' },
});
const output = (id: string, text: unknown) => ({
  ...{ type: 'function_call_output', call_id: id, output: text },
});
const called = (id: string, name = 'f') => ({
  ...{ id, type: 'function', function: { name, arguments: '{}' } },
});
const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], content: null };
const tool = { type: 'function', name: 'f', parameters: { type: 'object' }, strict: true };
const schema = { name: 'a', schema: { type: 'object' }, strict: true };

/** What a worker is given, without what is not there. */
const given = (body: object): Record<string, unknown> =>
  JSON.parse(JSON.stringify(chatForWorker(parse({ ...valid, ...body }).chat)));

function refusal(body: object, parser = parse): ApiError {
  try {
    parser({ ...valid, ...body });
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('it was taken');
}

describe('a request of responses gives its worker', () => {
  it.each<[string, object, object]>([
    ['a text as the message of the user', {}, { messages: [user('Hi.')] }],
    [
      'instructions as a system message before the input',
      { instructions: 'Be brief.' },
      { messages: [{ role: 'system', content: 'Be brief.' }, user('Hi.')] },
    ],
    ['nothing of empty instructions', { instructions: '' }, { messages: [user('Hi.')] }],
    [
      'messages with their parts joined, with a type or without',
      {
        input: [
          { role: 'developer', content: 'Be brief.' },
          {
            type: 'message',
            ...user([
              { type: 'input_text', text: 'H' },
              { type: 'input_text', text: 'i.' },
            ]),
          },
          said([
            { type: 'output_text', text: 'Yes', annotations: [] },
            { type: 'refusal', refusal: '?' },
          ]),
        ],
      },
      {
        messages: [
          { role: 'system', content: 'Be brief.' },
          user('Hi.'),
          { role: 'assistant', content: 'Yes?' },
        ],
      },
    ],
    [
      'calls with the text before them, and reasoning passed over',
      {
        input: [
          user('Hi.'),
          reasoning,
          said('Wait.'),
          reasoning,
          call('a'),
          call('b'),
          output('a', '1'),
          output('b', [{ type: 'input_text', text: '2' }]),
        ],
      },
      {
        messages: [
          user('Hi.'),
          { role: 'assistant', content: 'Wait.', tool_calls: [called('a'), called('b')] },
          { role: 'tool', content: '1', tool_call_id: 'a' },
          { role: 'tool', content: '2', tool_call_id: 'b' },
        ],
      },
    ],
    [
      'calls behind no text in a message of their own',
      { input: [user('Hi.'), call('a'), output('a', '1'), call('b'), output('b', '')] },
      {
        messages: [
          user('Hi.'),
          { role: 'assistant', content: '', tool_calls: [called('a')] },
          { role: 'tool', content: '1', tool_call_id: 'a' },
          { role: 'assistant', content: '', tool_calls: [called('b')] },
          { role: 'tool', content: '', tool_call_id: 'b' },
        ],
      },
    ],
    [
      'tools in an object of their own, without those of other services',
      {
        tools: [{ type: 'web_search' }, tool, { type: 'namespace', name: 'x', tools: [] }],
        tool_choice: { type: 'function', name: 'f' },
      },
      {
        tools: [
          {
            type: 'function',
            function: { name: 'f', parameters: { type: 'object' }, strict: true },
          },
        ],
        tool_choice: { type: 'function', function: { name: 'f' } },
      },
    ],
    [
      'no tools where all are left out',
      { tools: [{ type: 'web_search' }], tool_choice: 'auto' },
      {},
    ],
    [
      'a promised form of JSON',
      { text: { format: { type: 'json_schema', ...schema }, verbosity: 'low' } },
      { response_format: { type: 'json_schema', json_schema: schema } },
    ],
    [
      'any JSON',
      { text: { format: { type: 'json_object' } } },
      { response_format: { type: 'json_object' } },
    ],
    ['no form for a text', { text: { format: { type: 'text' } } }, {}],
    [
      'the effort of reasoning',
      { reasoning: { effort: 'low', summary: 'auto' } },
      { reasoning_effort: 'low' },
    ],
    [
      'fields that both formats have',
      {
        temperature: 0,
        top_p: 0.5,
        presence_penalty: 1,
        seed: 7,
        stop: 'END',
        parallel_tool_calls: false,
        tools: [tool],
      },
      {
        temperature: 0,
        top_p: 0.5,
        presence_penalty: 1,
        seed: 7,
        stop: ['END'],
        parallel_tool_calls: false,
      },
    ],
    [
      'nothing of what only concerns the service, or is off',
      {
        ...{
          store: true,
          include: ['reasoning.encrypted_content'],
          metadata: { a: 'b' },
          user: 'u',
        },
        ...{
          prompt_cache_key: 'k',
          truncation: 'disabled',
          background: false,
          client_metadata: {},
        },
        ...{ previous_response_id: null, conversation: null, max_output_tokens: 9, stream: true },
      },
      {},
    ],
  ])('%s', (_rule, body, expected) => {
    expect(given(body)).toMatchObject({ model: 'm', ...expected });
    if (Object.keys(expected).length === 0) expect(given(body)).toEqual(given({}));
  });

  it('the same limit of tokens, stream and ceiling as a chat completion', () => {
    const { chat } = parse({ ...valid, max_output_tokens: 9, stream: true, max_credits: 8 });
    expect(chat).toMatchObject({ max_tokens: 9, stream: true, max_credits: 8 });
  });
});

describe('a request of responses is refused by its own names', () => {
  const image = user([{ type: 'input_image', image_url: 'data:,x' }]);
  it.each<[string, object, string, string]>([
    ['without input', { input: undefined }, 'input', "'input' is required"],
    ['with an empty list', { input: [] }, 'input', 'at least one item'],
    [
      'with an item of a stored one',
      { input: [{ type: 'item_reference', id: 'msg_1' }] },
      'input[0].id',
      'send the item itself',
    ],
    [
      'with an unknown item',
      { input: [user('a'), { type: 'x', role: 'user', content: 'secret' }] },
      'input[1].type',
      'must be a message',
    ],
    ['with an image', { input: [image] }, 'input[0].content', 'images are planned'],
    [
      'with an image of a tool',
      { input: [call('a'), output('a', image.content)] },
      'input[1].output',
      'images are planned',
    ],
    [
      'with a role that it has not',
      { input: [{ role: 'tool', content: '' }] },
      'input[0].role',
      'user, assistant',
    ],
    ['with half of a character', { input: [user('\ud800')] }, 'input[0].content', 'surrogates'],
    [
      'with a call without its name',
      { input: [{ ...call('a'), name: undefined }] },
      'input[0].name',
      'required',
    ],
    [
      'with an earlier response',
      { previous_response_id: 'resp_1' },
      'previous_response_id',
      'nothing is stored',
    ],
    ['with a conversation', { conversation: 'conv_1' }, 'conversation', 'nothing is stored'],
    ['with a stored prompt', { prompt: { id: 'p' } }, 'prompt', 'not supported'],
    ['in the background', { background: true }, 'background', 'must be false'],
    ['with truncation', { truncation: 'auto' }, 'truncation', 'must be disabled'],
    ['with the messages of the other format', { messages: [user('a')] }, 'messages', 'send input'],
    ['with its limit', { max_tokens: 5 }, 'max_tokens', 'send max_output_tokens'],
    ['with its form', { response_format: { type: 'text' } }, 'response_format', 'send text.format'],
    ['with logprobs', { include: ['message.output_text.logprobs'] }, 'include', 'logprobs'],
    [
      'with a form without a name',
      { text: { format: { type: 'json_schema' } } },
      'text.format',
      'with a name',
    ],
    [
      'with a form beyond JSON',
      { text: { format: { type: 'json_schema', name: 'a', schema: { maximum: 2 ** 60 } } } },
      'text.format',
      '2^53',
    ],
    [
      'with an unknown effort',
      { reasoning: { effort: 'much' } },
      'reasoning.effort',
      'must be one of',
    ],
    ...['code_interpreter', 'file_search', 'computer_use', 'mcp', 'custom'].map(
      (type): [string, object, string, string] => [
        `with ${type}`,
        { tools: [tool, { type }] },
        'tools[1].type',
        type,
      ],
    ),
    [
      'with a name twice',
      { tools: [tool, { type: 'web_search' }, tool] },
      'tools[2].name',
      'earlier tool',
    ],
    [
      'with a choice of no tool',
      { tools: [tool], tool_choice: { type: 'function', name: 'g' } },
      'tool_choice',
      'none of the tools',
    ],
    [
      'with a choice of what is left out',
      { tools: [{ type: 'web_search' }], tool_choice: 'required' },
      'tool_choice',
      'needs tools',
    ],
    [
      'with a tool of another service as its choice',
      { tool_choice: { type: 'web_search' } },
      'tool_choice',
      'by its name',
    ],
    [
      'with too long schemas',
      { tools: [{ ...tool, parameters: { a: 'a'.repeat(70_000) } }] },
      'tools',
      'bytes of parameters',
    ],
    [
      'with too many calls',
      { input: Array(TOOL_CALLS_MAX + 1).fill(call('a')) },
      'input',
      'at most 128 calls',
    ],
    [
      'with too many items',
      { input: Array(MESSAGES_MAX).fill(user('')) },
      'input',
      'at most 2047 items',
    ],
    ['with too many parts', { input: [user(Array(4_097).fill(0))] }, 'input', 'at most 4096 parts'],
    [
      'with a fault behind many items',
      { input: [...Array(900).fill(user('')), { role: 'x', content: '' }] },
      'input[900].role',
      'must be one of',
    ],
  ])('%s', (_what, body, param, words) => {
    const { code, message, options } = refusal(body);
    expect([code, options.param]).toEqual(['invalid_request', param]);
    expect(message).toContain(words);
    expect(message).not.toContain('secret');
  });

  it('with tools and calls where these are off, as chat completions are', () => {
    for (const [body, param] of [
      [{ tools: [tool] }, 'tools'],
      [{ tool_choice: 'auto' }, 'tool_choice'],
      [{ input: [call('a')] }, 'input[0].type'],
      [{ input: [output('a', '')] }, 'input[0].type'],
    ] as const) {
      const { message, options } = refusal(body, parseWithoutTools);
      expect(options.param).toBe(param);
      expect(message).toContain('tools are a preview, which this service has off');
    }
    const others = { ...valid, tools: [{ type: 'web_search' }, { type: 'namespace' }] };
    expect(parseWithoutTools(others).leftOut).toEqual(['web_search', 'namespace']);
  });
});

describe('the answer to a request of responses', () => {
  it('repeats the request, and says that nothing is stored', () => {
    const { echo } = parse({
      ...{ ...valid, store: true, instructions: 'Be brief.', temperature: 0, metadata: { a: 'b' } },
      ...{ tools: [tool, { type: 'web_search' }], tool_choice: 'required', max_output_tokens: 9 },
      ...{ text: { format: { type: 'json_schema', ...schema } }, reasoning: { effort: 'low' } },
    });
    expect(echo).toMatchObject({
      ...{ store: false, instructions: 'Be brief.', temperature: 0, metadata: { a: 'b' } },
      ...{ tools: [{ description: null, ...tool }], tool_choice: 'required', max_output_tokens: 9 },
      text: { format: { type: 'json_schema', description: null, ...schema } },
      reasoning: { effort: 'low', summary: null },
    });
  });

  it.each([
    ['messages', 'The messages are too long.', 'input', 'The messages are too long.'],
    [
      'messages[3].tool_calls',
      "Invalid value for 'messages[3].tool_calls': x.",
      'input',
      "Invalid value for 'input': x.",
    ],
    [
      'response_format',
      "The server refuses 'response_format'.",
      'text.format',
      "The server refuses 'text.format'.",
    ],
    ['reasoning_effort', 'x', 'reasoning.effort', 'x'],
    [
      'max_credits',
      'Ask for `max_tokens` of at most 7.',
      'max_credits',
      'Ask for `max_output_tokens` of at most 7.',
    ],
    [undefined, 'All workers are busy.', undefined, 'All workers are busy.'],
  ])('names the field %s of an error as it was sent', (param, words, own, message) => {
    const { echo } = parse(valid);
    const named = createResponsesFormat(echo).errorOf(
      new ApiError('invalid_request', words, { param, details: { max_values: 1 } }),
    );
    expect(named).toMatchObject({ code: 'invalid_request', message, status: 400 });
    expect(named.options).toMatchObject({ param: own, details: { max_values: 1 } });
  });
});

describe(`a request of responses of any form that is taken (seed ${random.seed})`, () => {
  it.each([false, true])('is read by a verifier as its worker got it, tools: %s', (tools) => {
    const taking = tools ? parse : parseWithoutTools;
    const { components, paths } = buildDocument('https://api.example.com', { tools });
    const { requestBody } = paths['/v1/responses']?.post ?? {};
    const { like } = createFuzzValues({
      random,
      known: {
        model: ['m'],
        input: ['Hi.', [user('Hi.'), said('Yes.'), ...(tools ? [call('a'), output('a', '')] : [])]],
        ...Object.fromEntries(Object.keys(RESPONSES_FIELDS.off).map((field) => [field, [null]])),
      },
      resolve: (ref) => components.schemas[ref.split('/').at(-1) ?? ''] as Schema,
    });
    let taken = 0;
    for (let count = 0; count < 3_000; count += 1) {
      const sent = JSON.stringify(like(requestBody?.content['application/json']?.schema ?? {}));
      let chat: object;
      try {
        chat = chatForWorker(taking(JSON.parse(sent)).chat);
      } catch (error) {
        if (error instanceof ApiError) continue;
        throw error;
      }
      taken += 1;
      const read = readRequest(sent).chat;
      expect(canonicalJson(read as Json)).toBe(canonicalJson(chat as Json));
    }
    expect(taken).toBeGreaterThan(100);
  });
});
