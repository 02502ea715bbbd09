import { describe, expect, it } from '@jest/globals';
import { createDeltaData, eventData, REQUEST_LIMITS, scanJson } from '../../common/format.ts';
import { bodyWith, nestedArrays } from '../api/requestScene.ts';

const { depth: DEPTH_MAX, values: VALUES_MAX, fieldValues: FIELD_VALUES_MAX } = REQUEST_LIMITS;

const scan = (text: string) => scanJson(Buffer.from(text));
const list = (values: number) => `[${'0,'.repeat(values - 1)}0]`;

describe('the scan of a body', () => {
  it.each([
    ['a body', bodyWith()],
    ['the deepest field that is taken', bodyWith({ x: nestedArrays(DEPTH_MAX - 1) })],
    ['brackets in a text', bodyWith({ x: JSON.stringify('[{'.repeat(1_000)) })],
    ['brackets behind an escaped quote', bodyWith({ x: `"\\"${'['.repeat(1_000)}"` })],
    ['brackets behind an escaped backslash and a quote', bodyWith({ x: '"\\\\",' + '"y":[]' })],
    ['many siblings', bodyWith({ x: `[${'[[]],'.repeat(1_000)}[]]` })],
    ['as many messages as there may be', bodyWith({ messages: list(VALUES_MAX - 10) })],
    ['as many values of a field as there may be', bodyWith({ x: list(FIELD_VALUES_MAX - 2) })],
    ['as many of one field before another', `{"x":${list(FIELD_VALUES_MAX)},"y":0}`],
    ['nothing', ''],
    ['a text that does not end', '"'],
    ['an escape that does not end', '"\\'],
    ['ends without beginnings', ']]]}}}'],
    ['a list', '["a","b"]'],
  ])('finds no fault in %s', (_what, text) => {
    expect(scan(text).fault).toBeUndefined();
  });

  it.each([
    ['deep lists', { x: nestedArrays(DEPTH_MAX) }, 'x', 'nested more than 128 levels'],
    ['deep objects', { x: '{"a":'.repeat(DEPTH_MAX) }, 'x', 'nested more than 128 levels'],
    [
      'both in turn, behind texts with brackets and quotes',
      { a: '"]}\\"]}"', b: `[{"c":${'[{"d":'.repeat(DEPTH_MAX)}` },
      'b',
      'nested more than 128 levels',
    ],
    [
      'deep lists behind a text that ends in a backslash',
      { x: `["\\\\",${nestedArrays(DEPTH_MAX)}]` },
      'x',
      'nested more than 128 levels',
    ],
    ['depth in a message', { messages: `[${nestedArrays(200)}]` }, 'messages', 'nested more than'],
    ['a long list', { logit_bias: list(FIELD_VALUES_MAX + 2) }, 'logit_bias', 'than 16384 values'],
    ['many messages', { messages: list(VALUES_MAX) }, 'messages', 'than 50000 values'],
    [
      'a long list of messages by an escaped name',
      { 'x"y': list(FIELD_VALUES_MAX + 2) },
      'x"y',
      'more than 16384 values',
    ],
  ])('names the field at fault: %s', (_what, fields, param, words) => {
    const { fault } = scan(bodyWith(fields as Record<string, string>));
    expect(fault).toMatchObject({ param, message: expect.stringContaining(words) });
    expect(fault?.message).toContain(`'${param}'`);
  });

  it('counts the values of all fields, also where a name comes again', () => {
    const again = Array.from({ length: 4 }, () => `"x":${list(FIELD_VALUES_MAX - 10)}`).join();
    expect(scan(`{${again}}`).fault).toEqual({
      param: 'x',
      message: expect.stringContaining('makes the body hold more than 50000 values'),
      details: { max_values: 50_000 },
    });
  });

  it.each([
    ['no object', nestedArrays(200)],
    ['a field whose name is longer than any', `{"${'n'.repeat(100)}":${nestedArrays(200)}}`],
    ['a field whose name is no text', `{"\\x":${nestedArrays(200)}}`],
  ])('names the body alone: %s', (_what, text) => {
    expect(scan(text).fault).toEqual({
      param: undefined,
      message: expect.stringMatching(/^Invalid request body: is nested more than 128 levels deep/),
      details: { max_depth: 128 },
    });
  });
});

describe('the data of a server-sent event', () => {
  it('is one line for every reader of lines, and the same value', () => {
    // What Python takes for the end of a line, JSON's own escapes among it.
    const ends = '\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029';
    const value = { text: `a${ends}b`, [`key${ends}`]: 1 };
    const data = eventData(value);
    expect([...ends].filter((end) => data.includes(end))).toEqual([]);
    expect(JSON.parse(data)).toEqual(value);
  });

  it.each([
    [{ content: 'a"\\\u2028\n' }, null],
    [{ role: 'assistant', content: '' }, null],
    [{}, 'stop'],
  ])('is the same for a delta as for the whole chunk: %j', (delta, finishReason) => {
    const head = { id: 'a', object: 'chat.completion.chunk', created: 1, model: 'b"' } as const;
    const choices = [{ index: 0, delta, finish_reason: finishReason }];
    expect(createDeltaData(head)(delta, finishReason)).toBe(eventData({ ...head, choices }));
  });
});
