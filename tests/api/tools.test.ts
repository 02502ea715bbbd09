import { describe, expect, it } from '@jest/globals';
import { loadConfig } from '../../api/config.ts';
import { createChatCompletionParser } from '../../api/contracts/chatCompletion.ts';
import { ApiError } from '../../api/contracts/errors.ts';
import { NO_PREVIEW } from '../../api/contracts/tools.ts';
import { buildDocument } from '../../api/docs/document.ts';
import type { OpenApiDocument } from '../../api/docs/openApi.ts';
import { chatForWorker } from '../../api/jobs/admission.ts';
import { jobBody } from '../../worker/protocol/contracts.ts';
import { createDocumentValidator } from './documentValidator.ts';

const PREVIEW = { tools: true };
const parse = createChatCompletionParser(PREVIEW);
const URL = 'https://api.example.com';

const valid = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
const tool = (name = 'look_up', more: object = {}) => ({
  type: 'function',
  function: { name, ...more },
});
const called = (more: object = {}) => ({
  id: 'call_1',
  type: 'function',
  function: { name: 'look_up', arguments: '{"city":"Bern"}' },
  ...more,
});
const said = (tool_calls: unknown, more: object = {}) => ({
  messages: [...valid.messages, { role: 'assistant', content: null, tool_calls, ...more }],
});
const result = { role: 'tool', tool_call_id: 'call_1', content: 'rain' };

function refusalOf(change: object, parseWith = parse): ApiError | undefined {
  try {
    parseWith({ ...valid, ...change });
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalid_request') return error;
    throw error;
  }
}

describe('a request with tools', () => {
  const whole = tool('look_up', {
    description: 'The weather.',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
    strict: true,
  });

  it.each<[string, object]>([
    ['with all that a tool has', { tools: [whole] }],
    ['with null for what it lacks', { tools: [tool('a', { parameters: null, strict: null })] }],
    ['that has to call one', { tools: [tool('a'), tool('b')], tool_choice: 'required' }],
    ['that has to call this', { tools: [tool()], tool_choice: tool(), parallel_tool_calls: null }],
    ['without any, and a choice', { tools: [], tool_choice: 'auto', parallel_tool_calls: true }],
    ['with null for all', { tools: null, tool_choice: 'none' }],
    ['with 128', { tools: Array.from({ length: 128 }, (_, index) => tool(`t${index}`)) }],
    ['with 64 KiB of them', { tools: [tool('a', { parameters: { x: 'é'.repeat(32_764) } })] }],
    ['with an earlier call', said([called()])],
    ['with text beside a call', said([called({ index: 0 })], { content: 'Let me see.' })],
    ['with 128 calls', said(Array(128).fill(called()))],
    ['with a result', { messages: [...said([called()]).messages, result] }],
  ])('is taken %s', (_what, change) => {
    expect(refusalOf(change)).toBeUndefined();
  });

  const named = 'must have 1 to 64 letters, digits, _ or -';
  const refused: [string, string, object, object?][] = [
    ['tools', 'must be an array', { tools: 'x' }],
    ['tools[0].type', 'must be function', { tools: [{ ...tool(), type: 'web_search' }] }],
    ['tools[1].function.name', named, { tools: [tool(), tool('a b')] }],
    ['tools[0].function.name', named, { tools: [tool('x'.repeat(65))] }],
    ['tools[1].function.name', 'is the name of an earlier tool', { tools: [tool('a'), tool('a')] }],
    [
      'tools[0].function.parameters',
      'must be an object',
      { tools: [tool('a', { parameters: [] })] },
    ],
    ['tools[0].function.strict', 'must be true or false', { tools: [tool('a', { strict: 1 })] }],
    [
      'tools',
      'must hold at most 128 tools',
      { tools: Array(129).fill(tool()) },
      { max_tools: 128 },
    ],
    [
      'tools',
      'must hold at most 65536 bytes of parameters in all',
      { tools: ['a', 'b'].map((name) => tool(name, { parameters: { x: 'é'.repeat(16_381) } })) },
      { max_schema_bytes: 65_536 },
    ],
    [
      'tools',
      'must not contain lone surrogates or integers beyond 2^53 - 1',
      { tools: [tool('a', { parameters: { maximum: 2 ** 53 } })] },
    ],
    [
      'tool_choice',
      'must be none, auto, required, or a function by its name',
      { tools: [tool()], tool_choice: 'any' },
    ],
    ['tool_choice', 'needs tools', { tool_choice: 'required' }],
    ['tool_choice', 'needs tools', { tools: [], tool_choice: tool() }],
    ['tool_choice', 'names none of the tools', { tools: [tool()], tool_choice: tool('other') }],
    ['parallel_tool_calls', 'must be true or false', { parallel_tool_calls: 'no' }],
    ['functions', 'is not supported: send tools instead', { functions: [{ name: 'f' }] }],
    ['function_call', 'is not supported: send tools instead', { function_call: 'auto' }],
    [
      'messages[1].tool_calls',
      'must hold at most 128 calls',
      said(Array(129).fill(called())),
      { max_tool_calls: 128 },
    ],
    ['messages[1].tool_calls[0].id', 'must not be empty', said([called({ id: '' })])],
    [
      'messages[0].tool_call_id',
      'must not be empty',
      { messages: [{ ...result, tool_call_id: '' }] },
    ],
    ['messages[1].tool_calls[0].type', 'must be function', said([called({ type: 'custom' })])],
    [
      'messages[1].tool_calls[0].function.arguments',
      'must be a string',
      said([called({ function: { name: 'f', arguments: {} } })]),
    ],
    [
      'messages[1].tool_calls',
      'are of the assistant alone',
      said([called()], { role: 'user', content: '' }),
    ],
    [
      'messages[0].role',
      'is not supported: send tools instead',
      { messages: [{ role: 'function', content: '' }] },
    ],
    [
      'messages[0].role',
      'must be one of system, user, assistant, tool',
      { messages: [{ role: 'robot', content: '' }] },
    ],
    [
      'messages[0].content',
      'must be a string or an array of text parts',
      { messages: [{ role: 'tool', tool_call_id: 'x', content: null }] },
    ],
  ];

  it.each(
    refused.map(([param, fault, change, details = {}]) => [param, fault, change, details] as const),
  )('is refused for %s, which %s', (param, fault, change, details) => {
    const refusal = refusalOf(change);
    expect(refusal).toMatchObject({
      message: `Invalid value for '${param}': ${fault}.`,
      options: { param, ...(Object.keys(details).length > 0 && { details }) },
    });
  });

  it('says whose result a message of a tool is', () => {
    const { tool_call_id: _, ...nameless } = result;
    expect(refusalOf({ messages: [nameless] })).toMatchObject({
      message: "'messages[0].tool_call_id' is required.",
    });
  });

  it('has the words for a list of anything but messages and tools', () => {
    for (const list of [[null], [7], ['x'.repeat(200)], [{ tool_calls: 'x'.repeat(200) }]]) {
      expect(refusalOf({ messages: list })?.options.param).toMatch(/^messages\[0\]/);
      expect(refusalOf({ tools: list })?.options.param).toMatch(/^tools\[0\]/);
    }
  });
});

describe('the preview of tools', () => {
  it('is off unless SVC_PREVIEW names it, which has no other words', () => {
    const settings = (SVC_PREVIEW?: string) => {
      try {
        return loadConfig({ ...(SVC_PREVIEW !== undefined && { SVC_PREVIEW }) }).SVC_PREVIEW;
      } catch (error) {
        return (error as Error).message.split('\n').find((line) => line.includes('SVC_PREVIEW'));
      }
    };
    expect(settings('tools, images')).toContain('must be of these, separated by commas: tools');
    for (const right of [undefined, '', 'tools', ' tools,tools ']) {
      expect(settings(right)).toBeUndefined();
    }
  });

  it('is named by what refuses tools while it is off', () => {
    const off = createChatCompletionParser(NO_PREVIEW);
    for (const change of [{ tools: [tool()] }, { tool_choice: 'auto' }, said([called()])]) {
      expect(refusalOf(change, off)?.message).toContain(
        'is not supported: tools are a preview, which this service has off.',
      );
    }
    expect(off({ ...valid, parallel_tool_calls: 'no' })).not.toHaveProperty('parallel_tool_calls');
  });

  it('is in the document while it is on, and nowhere in it else', () => {
    const [off, on] = [buildDocument(URL), buildDocument(URL, PREVIEW)];
    const marks = ['tool_call_id', 'parallel_tool_calls', '"tool_calls"', 'withoutTools'];
    // An answer of responses repeats what it was asked, also where that is off.
    const found = ({
      components: {
        schemas: { ResponseObject, ...schemas },
      },
    }: OpenApiDocument) => marks.filter((mark) => JSON.stringify(schemas).includes(mark));
    expect(found(on)).toEqual(marks.slice(0, -1));
    // Of messages, as a field that is refused.
    expect(found(off)).toEqual(['"tool_calls"']);
    const { ChatCompletion: answer } = off.components.schemas;
    expect(JSON.stringify(answer)).not.toMatch(/tool|"null"\],"desc/);
    const validate = createDocumentValidator(on);
    const body = { ...valid, ...said([called()]), tools: [tool()], tool_choice: tool() };
    expect(validate({ $ref: '#/components/schemas/ChatCompletionRequest' }, body)).toEqual([]);
  });
});

describe('the task of a request with tools', () => {
  const asked = (change: object) => {
    const chat = JSON.parse(JSON.stringify(chatForWorker(parse({ ...valid, ...change }))));
    expect(() => jobBody.shape.chat.parse(chat)).not.toThrow();
    return chat;
  };

  it('has tools, calls and results as they were sent, and nothing else', () => {
    const more = { tool_choice: 'auto', parallel_tool_calls: false };
    const tools = [tool('look_up', { parameters: { a: 1 }, cache: true })];
    expect(asked({ tools, ...more })).toEqual({ ...valid, tools, ...more });
    const conversation = [...said([called({ index: 0 })]).messages, { ...result, name: 'x' }];
    expect(asked({ messages: conversation })).toEqual({
      ...valid,
      messages: [
        ...valid.messages,
        { role: 'assistant', content: '', tool_calls: [called()] },
        result,
      ],
    });
  });

  it('says nothing of them without tools', () => {
    for (const tools of [undefined, null, []]) {
      const more = { tool_choice: 'auto', parallel_tool_calls: true };
      expect(asked({ tools, ...more })).toEqual(valid);
    }
    const absent = { tool_choice: null, parallel_tool_calls: null };
    expect(asked({ tools: [tool()], ...absent })).toEqual({ ...valid, tools: [tool()] });
  });
});
