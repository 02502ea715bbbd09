import { describe, expect, it } from '@jest/globals';
import {
  chatRequestOf,
  isResponsesRequest,
  leftOutTools,
} from '../../programs/client/verify/answer/responsesRequest.ts';

/** The messages of an input. */
const messagesOf = (...input: readonly unknown[]) => chatRequestOf({ input }).messages;
const call = (call_id: string) => ({ type: 'function_call', call_id, name: 'f', arguments: '{}' });
const sent = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });

describe('a body of responses', () => {
  it.each<[string, object, object]>([
    [
      'a text is a message of the user',
      { input: '?' },
      { messages: [{ role: 'user', content: '?' }] },
    ],
    [
      'instructions are a system message before it',
      { input: '?', instructions: 'Be brief.' },
      {
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: '?' },
        ],
      },
    ],
    ['empty instructions are none', { input: [], instructions: '' }, { messages: [] }],
    ['its limit is max_tokens', { input: [], max_output_tokens: 9 }, { max_tokens: 9 }],
    [
      'the schema of its form is in an object',
      { input: [], text: { format: { type: 'json_schema', name: 'x', schema: {} } } },
      { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: {} } } },
    ],
    [
      'any other form stays',
      { input: [], text: { format: { type: 'json_object' } } },
      { response_format: { type: 'json_object' } },
    ],
    [
      'its effort is a field',
      { input: [], reasoning: { effort: 'low' } },
      { reasoning_effort: 'low' },
    ],
    [
      'a function is in an object',
      { input: [], tools: [{ type: 'function', name: 'f', strict: null }] },
      { tools: [{ type: 'function', function: { name: 'f', strict: null } }] },
    ],
    [
      'tools of its maker alone are left out',
      { input: [], tools: [{ type: 'web_search' }, { type: 'custom' }] },
      { tools: [{ type: 'custom' }] },
    ],
    [
      'so is a chosen function',
      { input: [], tool_choice: { type: 'function', name: 'f' } },
      { tool_choice: { type: 'function', function: { name: 'f' } } },
    ],
    ['any other choice stays', { input: [], tool_choice: 'auto' }, { tool_choice: 'auto' }],
    [
      'fields that both have stay',
      { input: [], model: 'a', seed: 1, other: 2 },
      { model: 'a', seed: 1, other: 2 },
    ],
  ])('%s', (_rule, body, chat) => {
    expect(chatRequestOf({ ...body })).toMatchObject(chat);
  });

  it.each<[string, readonly unknown[], readonly object[]]>([
    [
      'a message has its role and content alone',
      [{ type: 'message', id: 'x', role: 'developer', content: '?' }],
      [{ role: 'developer', content: '?' }],
    ],
    [
      'parts of an input and of an output are texts',
      [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'a' },
            { type: 'output_text', text: 'b' },
            { type: 'x' },
          ],
        },
      ],
      [
        {
          role: 'user',
          content: [{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }, { type: 'x' }],
        },
      ],
    ],
    [
      'calls go on with the message of the assistant',
      [
        ...[{ role: 'assistant', content: 'a' }, call('c'), { type: 'reasoning' }],
        ...[{ type: 'item_reference', id: 'rs_1' }, call('d')],
      ],
      [{ role: 'assistant', content: 'a', tool_calls: [sent('c'), sent('d')] }],
    ],
    [
      'a call behind any other message begins an empty one',
      [{ role: 'user', content: 'a' }, call('c')],
      [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: '', tool_calls: [sent('c')] },
      ],
    ],
    [
      'the output of a call is a message of the tool',
      [{ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: '1' }] }],
      [{ role: 'tool', content: [{ type: 'text', text: '1' }], tool_call_id: 'c' }],
    ],
  ])('has items of which %s', (_rule, input, messages) => {
    expect(messagesOf(...input)).toEqual(messages);
  });

  it.each<[string, object]>([
    ['input', { input: { role: 'user' } }],
    ['input', { input: [{ type: 'item_reference', id: 'x' }] }],
    ['instructions', { input: [], instructions: ['x'] }],
    ['previous_response_id', { input: [], previous_response_id: 'resp_1' }],
    ['background', { input: [], background: true }],
    ['truncation', { input: [], truncation: 'auto' }],
    ['max_tokens', { input: [], max_tokens: 9 }],
  ])('is refused by its %s, in %j', (field, body) => {
    expect(() => chatRequestOf({ ...body })).toThrow(`The service refuses its ${field}.`);
  });

  it('keeps none of the fields that are off, left out or translated', () => {
    const off = { background: false, truncation: 'disabled', max_completion_tokens: {} };
    const body = { input: [], ...off, include: [], client_metadata: {}, text: {}, reasoning: null };
    const chat = JSON.parse(JSON.stringify(chatRequestOf(body)));
    expect(chat).toEqual({ messages: [] });
  });

  it('has an input, and no messages', () => {
    const isOne = (body: unknown) => isResponsesRequest(body);
    expect([{ input: '' }, { input: [], messages: [] }].every(isOne)).toBe(true);
    const others = [{}, { input: null }, { input: '?', messages: [{}] }, 'input', null];
    expect(others.some(isOne)).toBe(false);
  });

  it('names each type of tool that is left out once', () => {
    const types = ['web_search', 'function', 'namespace', 'web_search'];
    expect(leftOutTools(types.map((type) => ({ type })))).toEqual(['web_search', 'namespace']);
    expect(leftOutTools(undefined)).toEqual([]);
  });
});
