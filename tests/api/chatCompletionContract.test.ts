import { describe, expect, it } from '@jest/globals';
import {
  chatCompletionRequest,
  createChatCompletionParser,
  parseChatCompletion,
  SUPPORTED_PARAMETERS,
} from '../../api/contracts/chatCompletion.ts';
import { ApiError } from '../../api/contracts/errors.ts';
import { parseRequest } from '../../api/contracts/values.ts';
import { buildDocument } from '../../api/docs/document.ts';
import type { Schema } from '../../api/docs/openApi.ts';
import { chatForWorker } from '../../api/jobs/admission.ts';
import { commitmentTo, type WorkerTask } from '../../api/workers/client.ts';
import { MESSAGES_MAX } from '../../common/workerProtocol.ts';
import { createRandom } from '../../testing/random.ts';
import { commitToRequest, jobBody } from '../../worker/protocol/contracts.ts';
import { readDocuments } from '../docs/documents.ts';
import { createFuzzValues } from './fuzzValues.ts';

type JobBody = Parameters<typeof commitToRequest>[0];

const random = createRandom();

const valid = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };

/** Parts of the format that are absent or off, which no worker has to heed. */
const OFF = [
  ...['tools', 'functions', 'tool_choice', 'function_call', 'logprobs', 'top_logprobs', 'n'],
  ...['modalities', 'audio', 'best_of', 'prediction', 'models'],
  ...['guided_json', 'guided_regex', 'guided_choice', 'guided_grammar'],
];

function refusalOf(change: Record<string, unknown>): ApiError | undefined {
  try {
    parseRequest(chatCompletionRequest, { ...valid, ...change });
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalid_request') return error;
    throw error;
  }
  return undefined;
}

/** A format with this JSON Schema. */
function schemaWith(schema: Record<string, unknown>) {
  return { type: 'json_schema', json_schema: { name: 'answer', schema } };
}

const paramOf = (change: Record<string, unknown>) => refusalOf(change)?.options.param;

describe('the body of a chat completion', () => {
  it.each([
    [{ temperature: 0 }],
    [{ temperature: 2 }],
    [{ top_p: 1 }],
    [{ frequency_penalty: -2, presence_penalty: 2 }],
    [{ stop: Array.from({ length: 16 }, () => 'x'.repeat(256)) }],
    [{ max_tokens: 7, max_completion_tokens: 7 }],
    [{ tools: [], functions: null, logit_bias: {}, tool_choice: 'none', logprobs: false, n: 1 }],
    [{ response_format: { type: 'text' }, stream_options: { include_usage: true } }],
    [{ a_field_from_the_future: { deep: [1] } }],
    [{ user: 'somebody', metadata: { trace: '7' } }],
    [{ response_format: { type: 'json_object' }, logit_bias: { 5: -100 }, top_k: -1, min_p: 0 }],
    [{ response_format: schemaWith({ maximum: 2 ** 53 - 1, multipleOf: 1e-300 }) }],
    [{ chat_template_kwargs: { numbers: [-(2 ** 53 - 1), 0.1 + 0.2, -0] }, seed: 2 ** 53 - 1 }],
    [{ messages: [{ role: 'assistant', content: null }] }],
    [{ messages: [{ role: 'assistant', content: null, tool_calls: [] }] }],
    // An id of no model is `model_not_found`, which the catalog says.
    [{ model: '' }],
    [{ model: 'm'.repeat(257) }],
  ])('accepts %j [completions.unsupported]', (change) => {
    expect(paramOf(change)).toBeUndefined();
  });

  it.each([
    ['messages', { messages: Array(MESSAGES_MAX + 1).fill(valid.messages[0]) }],
    ['messages[0].content', { messages: [{ role: 'user', content: 7 }] }],
    ['max_completion_tokens', { max_tokens: 7, max_completion_tokens: 8 }],
    ['stop', { stop: '' }],
    ['stop', { stop: Array(17).fill('x') }],
    ['frequency_penalty', { frequency_penalty: 2.1 }],
    ['presence_penalty', { presence_penalty: -2.1 }],
    ['seed', { seed: 'x' }],
    ['tool_choice', { tool_choice: 'auto' }],
    ['logit_bias', { logit_bias: { 5: 101 } }],
    ['top_k', { top_k: 1.5 }],
    ['min_p', { min_p: 2 }],
    ['repetition_penalty', { repetition_penalty: -1 }],
    ['reasoning_effort', { reasoning_effort: 'enormous' }],
    ['chat_template_kwargs', { chat_template_kwargs: 'thinking' }],
    ['best_of', { best_of: 2 }],
    ['prediction', { prediction: { type: 'content', content: 'x' } }],
    ['models', { models: ['m', 'other'] }],
    ['guided_json', { guided_json: { type: 'object' } }],
    ['messages[0].content', { messages: [{ role: 'user' }] }],
    ['messages[0].content', { messages: [{ role: 'user', content: null }] }],
    ['messages[0].content', { messages: [{ role: 'user', content: ['a'] }] }],
    [
      'messages[0].tool_calls',
      { messages: [{ role: 'assistant', content: null, tool_calls: [{}] }] },
    ],
    ['logprobs', { logprobs: true }],
    ['response_format', { response_format: { type: 'xml' } }],
    ['response_format', { response_format: { type: 'json_schema' } }],
    ['response_format', { response_format: schemaWith({ maximum: 2 ** 63 }) }],
    ['response_format', { response_format: schemaWith({ minimum: Number('-1e999') }) }],
    ['response_format', { response_format: schemaWith({ const: '\udc00' }) }],
    ['chat_template_kwargs', { chat_template_kwargs: { deep: [{ n: -(2 ** 53) }] } }],
    ['chat_template_kwargs', { chat_template_kwargs: { '\ud800': 1 } }],
  ])(
    'refuses a bad value and names %s [completions.required-fields] [completions.field-ranges] [completions.roles] [completions.unsupported] [completions.body-limits]',
    (param, change) => {
      expect(paramOf(change)).toBe(param);
    },
  );

  it.each(OFF)('treats null and empty values as absent: %s', (field) => {
    for (const absent of [null, [], {}]) expect(paramOf({ [field]: absent })).toBeUndefined();
  });

  const integer = 'must be an integer from 1 to 2147483647';
  const surrogates = 'must not contain lone surrogates';
  const planned = 'is not supported: tools are a preview, which this service has off';
  it.each([
    ['max_tokens', 0, integer],
    ['max_tokens', 2 ** 31, integer],
    ['max_tokens', 1.5, integer],
    ['seed', 2 ** 53, 'must be an integer from -(2^53 - 1) to 2^53 - 1'],
    ['stop[1]', ['x', '\ud800'], surrogates],
    ['stop', 'x'.repeat(257), 'must have 1 to 256 characters'],
    ['stop', 7, 'must be a string of 1 to 256 characters, or up to 16 of them'],
    ['messages[0].content', [{ role: 'user', content: '\ud800' }], surrogates],
    [
      'messages[0].content[0].text',
      [{ role: 'user', content: [{ type: 'text', text: '\ud800' }] }],
      surrogates,
    ],
    [
      'messages[0].content',
      [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:' } }] }],
      'holds a part of type image_url, which is not supported yet: images are planned',
    ],
    [
      'messages[0].content',
      [{ role: 'user', content: [null, { type: 'file' }] }],
      'must be a string or an array of text parts',
    ],
    ['chat_template_kwargs', { n: 1e20 }, `${surrogates} or integers beyond 2^53 - 1`],
    ['n', 2, 'only one choice is supported'],
    ['tools', [{}], planned],
    ['messages[0].role', [{ role: 'tool' }], planned],
    ['messages', [], 'must hold at least one message'],
    ['messages', 'hi', 'must be an array of messages'],
    ['model', 7, 'must be a string'],
    ['temperature', 3, 'must be at most 2'],
    ['stream', 'yes', 'must be true or false'],
    ['top_logprobs', 2, 'is not supported'],
    ['messages', undefined, undefined],
    ['model', undefined, undefined],
    ['messages[0].role', [{ content: 'hi' }], undefined],
  ])('explains what is wrong with %s: %j', (param, value, fault) => {
    const message = fault ? `Invalid value for '${param}': ${fault}.` : `'${param}' is required.`;
    const refusal = refusalOf({ [param.replace(/\[.*/, '')]: value });
    expect(refusal).toMatchObject({ message, options: { param } });
  });

  it('reads the developer role as system and joins text parts [completions.roles]', () => {
    const content = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ];
    const body = { ...valid, messages: [{ role: 'developer', content }] };
    expect(parseRequest(chatCompletionRequest, body).messages).toEqual([
      { role: 'system', content: 'ab' },
    ]);
  });

  it.each([
    [{ content: [{ type: 'refusal', refusal: 'I cannot.' }] }, 'I cannot.'],
    [{ content: null, refusal: 'I cannot.' }, 'I cannot.'],
    [{ refusal: 'I cannot.' }, 'I cannot.'],
    [{ content: 'Hello', refusal: null, annotations: [], audio: null }, 'Hello'],
    [{ content: [{ type: 'text', text: 'Hello', cache_control: {} }] }, 'Hello'],
  ])('reads an earlier turn as clients send it back: %j', (turn, text) => {
    const messages = [{ role: 'assistant', ...turn }, ...valid.messages];
    const [first] = parseRequest(chatCompletionRequest, { ...valid, messages }).messages;
    expect(first).toEqual({ role: 'assistant', content: text });
  });

  it('never quotes the value that it refuses', () => {
    const secret = 'the secret prompt';
    const messages = [{ role: secret, content: secret }];
    expect(() => parseRequest(chatCompletionRequest, { ...valid, messages })).not.toThrow(secret);
  });
});

describe('a request that is built to be expensive', () => {
  /** The value, and how often it was looked at: at fields of this name, if there is one. */
  function watched<Value extends object>(value: Value, field?: string) {
    let looks = 0;
    const watch = <Part extends object>(part: Part): Part =>
      new Proxy(part, {
        get(target, key) {
          if (field === undefined || key === field) looks += 1;
          const found = Reflect.get(target, key);
          return typeof found === 'object' && found !== null ? watch(found) : found;
        },
      });
    return { value: watch(value), looks: () => looks };
  }

  const message = (content: unknown) => ({ role: 'user', content });
  const parts = (count: number) => Array(count).fill({ type: 'text', text: 'a' });
  const bad = (good: number, count: number) => [
    ...Array(good).fill(message('hi')),
    ...Array(count - good).fill({}),
  ];
  const biases = Object.fromEntries(Array.from({ length: 5_000 }, (_, token) => [token, 101]));

  it.each<[string, string, object, number, string?]>([
    ['text parts of one message', 'messages', { messages: [message(parts(4_097))] }, 0, 'type'],
    [
      'text parts of many',
      'messages',
      { messages: Array(1_000).fill(message(parts(5))) },
      0,
      'type',
    ],
    ['messages', 'messages[100].role', { messages: bad(100, MESSAGES_MAX) }, 120 * 4, 'role'],
    ['more messages than may be', 'messages', { messages: bad(0, 60_000) }, 0, 'role'],
    // Each is taken out once; the schema looks at the first one alone.
    ['biases', 'logit_bias', { logit_bias: biases }, 5_200],
    ['stop sequences', 'stop', { stop: Array(10_000).fill(0) }, 200],
  ])('is refused at its first fault, before the rest of its %s is read', (...given) => {
    const [, param, change, looksMax, field] = given;
    const { value, looks } = watched(change, field);
    expect(() => parseChatCompletion({ ...valid, ...value })).toThrow(
      expect.objectContaining({ options: expect.objectContaining({ param }) }),
    );
    expect(looks()).toBeLessThanOrEqual(looksMax);
  });

  it('may have the maximum number of text parts', () => {
    const { messages } = parseChatCompletion({ ...valid, messages: [message(parts(4_096))] });
    expect(messages).toEqual([message('a'.repeat(4_096))]);
  });

  it.each([null, 'x', { messages: 1 }, { messages: [null, 1, { content: 1 }] }])(
    'is refused as usual when its content has no parts: %j',
    (body) => {
      expect(() => parseChatCompletion(body)).toThrow(ApiError);
    },
  );
});

describe(`a request of any form that is taken (seed ${random.seed})`, () => {
  it.each([false, true])('is committed to alike by gateway and worker, tools: %s', (tools) => {
    const parse = createChatCompletionParser({ tools });
    const { components, paths } = buildDocument('https://api.example.com', { tools });
    const { requestBody } = paths['/v1/chat/completions']?.post ?? {};
    const { like } = createFuzzValues({
      random,
      known: { model: ['m'], messages: [valid.messages] },
      resolve: (ref) => components.schemas[ref.split('/').at(-1) ?? ''] as Schema,
    });
    const asked = { requestSalt: random.bytes(32), tokenLimit: 7 };
    let taken = 0;
    for (let count = 0; count < 3_000; count += 1) {
      const body = like(requestBody?.content['application/json']?.schema ?? {});
      const request = tryParse(JSON.stringify(body), parse);
      if (!request) continue;
      taken += 1;
      // Any other model would not be in the catalog.
      const task = { ...asked, chat: chatForWorker({ ...request, model: 'm' }) } as WorkerTask;
      const raw = JSON.parse(JSON.stringify({ chat: task.chat }));
      const chat = jobBody.shape.chat.parse(raw.chat);
      const job = { request_salt: asked.requestSalt, token_limit: 7, chat };
      const { requestCommitment } = commitToRequest(job as JobBody, raw);
      expect(requestCommitment).toEqual(commitmentTo(task));
    }
    expect(taken).toBeGreaterThan(100);
  });
});

function tryParse(body: string, parse: typeof parseChatCompletion) {
  try {
    return parse(JSON.parse(body));
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

describe('the task that a worker receives', () => {
  const { chat } = jobBody.shape;
  const asked = (body: object): unknown =>
    chat.parse(JSON.parse(JSON.stringify(chatForWorker(parseChatCompletion(body)))));

  it('contains every request field that an engine can use', () => {
    // Those that the API heeds itself, or that a job says in its own way.
    const limits = ['max_tokens', 'max_completion_tokens'];
    const elsewhere = ['stream', 'stream_options', 'max_credits', ...limits];
    const heeded = {
      ...{ ...valid, temperature: 0.5, top_p: 0.25, stop: ['END'], seed: 7 },
      ...{ frequency_penalty: -1, presence_penalty: 1, repetition_penalty: 1.1, top_k: 40 },
      ...{ min_p: 0.05, logit_bias: { 50256: -100 }, reasoning_effort: 'low' },
      chat_template_kwargs: { enable_thinking: false },
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', strict: true, schema: { type: 'object' } },
      },
    };

    expect(asked(heeded)).toEqual(heeded);
    expect([...Object.keys(heeded), ...elsewhere, ...OFF].sort()).toEqual(
      Object.keys(chatCompletionRequest.shape).sort(),
    );
    expect([...SUPPORTED_PARAMETERS].sort()).toEqual(
      [...Object.keys(heeded), ...limits]
        .filter((field) => field !== 'model' && field !== 'messages')
        .sort(),
    );
    const protocol = readDocuments().find(({ path }) => path === 'docs/worker-protocol.md');
    const [, documented = ''] =
      /^`chat` takes (.*?)\. Other fields/m.exec(protocol?.text ?? '') ?? [];
    for (const field of Object.keys(heeded)) expect(documented).toContain(`\`${field}\``);
  });

  it("is accepted by a worker up to the API's own size limit", () => {
    const { messages } = valid;
    const most = {
      ...valid,
      messages: Array(MESSAGES_MAX).fill(messages[0]),
      stop: Array(16).fill('\u{1f600}'.repeat(256)),
    };

    expect(asked(most)).toEqual(most);
  });
});
