import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readJson } from '../../worker/protocol/errors.ts';
import { codeOf, openScene, type RequestChanges, type Scene } from './scene.ts';

/** Of base58, so that only its length is wrong; a header may be as long. */
const LONG_TEXT = '2'.repeat(10_000);
const MESSAGE = { role: 'user', content: 'Say hello.' };

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene.close());
afterEach(() => {
  jest.restoreAllMocks();
});

/** Node's client looks at each character of a header that it sends. */
const CLIENT = 'node:internal/deps/undici';

/** How often `LONG_TEXT` is decoded from now on, which begins with its first character. */
function countDecoded(): () => number {
  let decoded = 0;
  const original = String.prototype.charCodeAt;
  jest.spyOn(String.prototype, 'charCodeAt').mockImplementation(function (this: string, index) {
    const isFirst = this.length === LONG_TEXT.length && index === 0;
    if (isFirst && !new Error().stack?.includes(CLIENT)) decoded += 1;
    return original.call(this, index);
  });
  return () => decoded;
}

describe('an oversized text', () => {
  it.each<[string, RequestChanges, number]>([
    ['job address', { body: { job_address: LONG_TEXT } }, 400],
    ['program id', { body: { program_id: LONG_TEXT } }, 400],
    ['worker address', { body: { worker_address: LONG_TEXT } }, 400],
    ['signer', { headers: { 'svc-signer': LONG_TEXT } }, 401],
  ])('is refused as the %s without being decoded', async (_name, changes, status) => {
    const job = await scene.lock();
    const decoded = countDecoded();
    expect((await scene.ask(job, changes)).status).toBe(status);
    expect(decoded()).toBe(0);
  });

  it('is refused as the address of a job to stop without being decoded', async () => {
    const decoded = countDecoded();
    const path = `/jobs/${LONG_TEXT}/stop`;
    const body = JSON.stringify({ attempt: 1 });
    const response = await fetch(`${scene.url}${path}`, { method: 'POST', body });
    expect(await codeOf(response)).toBe('invalid_request');
    expect(decoded()).toBe(0);
  });

  it('is refused as the job id', async () => {
    const response = await scene.ask(await scene.lock(), { body: { job_id: 'x'.repeat(37) } });
    expect([response.status, await codeOf(response)]).toEqual([400, 'invalid_request']);
  });
});

describe('a body that parsers are slow at', () => {
  it.each([
    ['deep', `{"chat":${'['.repeat(2_000_000)}`, 'nested more than 132 levels'],
    ['of endless values', `{"chat":[${'{},'.repeat(500_000)}0]}`, 'more than 50064 values'],
  ])('is refused unparsed, signed or not: %s', async (_what, body, words) => {
    const parsing = jest.spyOn(JSON, 'parse');
    const response = await fetch(`${scene.url}/jobs`, { method: 'POST', body });
    const parsed = parsing.mock.calls.filter(([text]) => String(text).length > 1_000);
    expect([response.status, parsed.length]).toEqual([400, 0]);
    expect(await response.json()).toEqual({
      error: { code: 'invalid_request', message: expect.stringContaining(words) },
    });
  });
});

describe('a body with keys that a client named', () => {
  it('keeps them behind a body with others', () => {
    readJson('{"a":1,"\\\\":2}');
    expect(readJson('{"a":1,"\\u00fc":2}')).toEqual({ a: 1, ü: 2 });
  });
});

describe('a conversation', () => {
  it('has up to 2,048 messages', async () => {
    const messages = Array.from({ length: 2_048 }, () => MESSAGE);
    expect((await scene.ask(await scene.lock(), { chat: { messages } })).status).toBe(200);
    const chat = { messages: [...messages, MESSAGE] };
    const response = await scene.ask(await scene.lock(), { chat });
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: { code: 'invalid_request', message: 'Missing or malformed: chat.messages' } },
    ]);
  });

  const call = { id: 'c1', type: 'function', function: { name: 'tide', arguments: '{}' } };
  const tool = { type: 'function', function: { name: 'tide' } };
  const calling = (...tool_calls: object[]) => ({
    messages: [{ role: 'assistant', content: '', tool_calls }, MESSAGE],
  });
  it.each<[string, string, Record<string, unknown>]>([
    ['no call', 'chat.messages.0.tool_calls', calling()],
    ['129 calls', 'chat.messages.0.tool_calls', calling(...Array(129).fill(call))],
    ['a call without an id', 'chat.messages.0.tool_calls.0.id', calling({ ...call, id: '' })],
    ['129 tools', 'chat.tools', { tools: Array(129).fill(tool) }],
    [
      'a name with a blank',
      'chat.tools.0.function.name',
      { tools: [{ ...tool, function: { name: 'a b' } }] },
    ],
    ['a choice of its own', 'chat.tool_choice', { tool_choice: 'any' }],
  ])('is refused with %s', async (_what, field, chat) => {
    const response = await scene.ask(await scene.lock(), { chat });
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: { code: 'invalid_request', message: `Missing or malformed: ${field}` } },
    ]);
  });

  it('gets the first five of many errors', async () => {
    const chat = { messages: Array(2_048).fill({}) };
    const response = await scene.ask(await scene.lock(), { chat });
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error.message.split(', ')).toHaveLength(5);
  });
});
