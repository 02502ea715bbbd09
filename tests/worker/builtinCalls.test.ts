import { describe, expect, it } from '@jest/globals';
import type { ToolCall } from '../../programs/client/statement.ts';
import { createBuiltinEngine } from '../../worker/engine/builtin.ts';
import type { ChatRequest } from '../../worker/protocol/contracts.ts';

const engine = createBuiltinEngine({ tokenDelayMs: 0 });
const parameters = {
  type: 'object',
  properties: { harbour: { type: 'string', minLength: 12 }, at: { type: 'integer' } },
  required: ['harbour', 'at'],
  additionalProperties: false,
};
const tool = (name: string, more: object = { parameters }) => ({
  type: 'function' as const,
  function: { name, ...more },
});
const user = (content: string) => ({ role: 'user' as const, content });
const choose = (name: string) => ({ type: 'function' as const, function: { name } });

/** What it answers to a request with the tools `tide` and `next-wind`. */
async function answerTo(chat: Partial<ChatRequest>, tokenLimit = 1_000) {
  const tools = [tool('tide'), tool('next-wind', {})];
  const asked = { model: 'test-8b', messages: [user('Hello.')], tools, ...chat };
  const answer = { text: '', calls: [] as ToolCall[], finish: '' };
  const { signal } = new AbortController();
  for await (const event of engine.generate(asked, { tokenLimit, signal })) {
    if (event.type === 'text') answer.text += event.text;
    if (event.type === 'end') answer.finish = event.finishReason;
    if (event.type !== 'call') continue;
    const { id = '', name = '', text } = event;
    const before = answer.calls[event.index] ?? { id, name, arguments: '' };
    answer.calls[event.index] = { ...before, arguments: before.arguments + text };
  }
  return { ...answer, names: answer.calls.map(({ name }) => name) };
}

describe('the built-in engine', () => {
  const named = user('Is the tide high, and the next-wind strong?');
  const call = { id: 'a', type: 'function' as const, function: { name: 'tide', arguments: '{}' } };
  const result = [
    named,
    { role: 'assistant' as const, content: '', tool_calls: [call] },
    { role: 'tool' as const, content: 'tide: high', tool_call_id: 'a' },
  ];
  it.each<[string, Partial<ChatRequest>, unknown]>([
    ['each that the user names', { messages: [named] }, ['tide', 'next-wind']],
    ['one of them alone', { messages: [named], parallel_tool_calls: false }, ['tide']],
    [
      'a required one that is named',
      { messages: [user('tide?')], tool_choice: 'required' },
      ['tide'],
    ],
    [
      'any required one',
      { tool_choice: 'required' },
      [expect.stringMatching(/^(tide|next-wind)$/)],
    ],
    ['the chosen one', { messages: [named], tool_choice: choose('next-wind') }, ['next-wind']],
    ['the chosen one after a result', { messages: result, tool_choice: choose('tide') }, ['tide']],
    ['none that is not named', { messages: [user('Do tides wind?')] }, []],
    ['none that an earlier message names', { messages: [named, user('Why?')] }, []],
    ['none after a result', { messages: result }, []],
    ['none that must not be called', { messages: [named], tool_choice: 'none' }, []],
  ])('calls %s', async (_what, chat, names) => {
    const answer = await answerTo(chat);
    expect(answer.names).toEqual(names);
    expect(answer.finish).toBe(answer.names.length > 0 ? 'tool_calls' : 'stop');
    expect(answer.text === '').toBe(answer.names.length > 0);
  });

  it('gives a value of the schema, the same for the same request and seed', async () => {
    const chat = { messages: [named] };
    const [first, again, seeded] = [
      await answerTo(chat),
      await answerTo(chat),
      await answerTo({ ...chat, seed: 2 }),
    ];
    expect(again).toEqual(first);
    expect(seeded.calls[0]?.arguments).not.toBe(first.calls[0]?.arguments);
    expect(seeded.calls[0]?.id).not.toBe(first.calls[0]?.id);
    const value = { harbour: expect.stringMatching(/^.{12}/), at: expect.any(Number) };
    expect(JSON.parse(first.calls[0]?.arguments ?? '')).toEqual(value);
    expect(first.calls[1]).toEqual({
      ...{ id: expect.stringMatching(/^call_[A-Za-z0-9]{24}$/), name: 'next-wind' },
      arguments: '{}',
    });
  });

  it('ends a call at the token limit', async () => {
    const { calls, finish } = await answerTo({ tool_choice: choose('tide') }, 3);
    expect([calls[0]?.arguments.length, finish]).toEqual([8, 'length']);
  });

  it('refuses tools of which one has no value', async () => {
    const tools = [tool('tide', { parameters: { not: {} } })];
    const asking = answerTo({ tools, tool_choice: 'required' });
    await expect(asking).rejects.toMatchObject({ code: 'parameter_refused', param: 'tools' });
  });
});
