import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ToolCall } from '../../programs/client/statement.ts';
import {
  chatCompletionsUrl,
  createUpstreamEngine,
  modelsUrl,
} from '../../worker/engine/upstream.ts';
import { createErrorFields } from '../../worker/engine/upstreamEvents.ts';
import type { ChatRequest } from '../../worker/protocol/contracts.ts';
import { asWorkerError } from '../../worker/protocol/errors.ts';
import { type Dialect, readDialects } from './dialects/read.ts';

const MADE_ID = /^call_[A-Za-z0-9]{24}$/;

const dialects = readDialects();
const byName = new Map(dialects.map((dialect) => [dialect.name, dialect]));
let server: Server;

beforeAll(async () => {
  server = createServer((request, response) => {
    const { status, headers, breaks, body } = byName.get(
      String(request.url).split('/')[1] ?? '',
    ) as Dialect;
    response.writeHead(status, headers);
    if (!breaks) return void response.end(body);
    response.write(body, () => response.socket?.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** What the engine makes of a server's bytes: an answer, or an error's code. */
async function read({ name, request }: Dialect) {
  const { port } = server.address() as AddressInfo;
  const engine = createUpstreamEngine({ url: `http://127.0.0.1:${port}/${name}/v1` });
  const chat: ChatRequest = {
    model: 'm',
    messages: [{ role: 'user', content: 'Say alpha.' }],
    ...request,
  };
  const written = { text: '', reasoning: '', calls: [] as ToolCall[] };
  const { signal } = new AbortController();
  try {
    for await (const event of engine.generate(chat, { tokenLimit: 1_000, signal })) {
      if (event.type === 'text' || event.type === 'reasoning') written[event.type] += event.text;
      if (event.type === 'call') {
        const { id = '', name = '', text } = event;
        const before = written.calls[event.index] ?? { id, name, arguments: '' };
        written.calls[event.index] = { ...before, arguments: before.arguments + text };
      }
      if (event.type !== 'end') continue;
      if (written.text === '' && written.calls.length === 0) return { error: 'empty_output' };
      return { ...written, finish: event.finishReason, usage: event.usage };
    }
  } catch (error) {
    const { code, param, retryAfterSeconds: retryAfter } = asWorkerError(error);
    return {
      error: code,
      ...(param !== undefined && { param }),
      ...(retryAfter !== undefined && { retryAfter }),
    };
  }
  return {};
}

describe('an answer in the dialect of', () => {
  it.each(dialects)('$name: $about', async (dialect) => {
    const { expect: right } = dialect;
    const found = await read(dialect);
    if ('error' in right) return expect(found).toEqual(right);
    const { usage } = right;
    // The worker makes the ids that a server leaves out.
    const calls = right.calls.map((call) => ({ id: expect.stringMatching(MADE_ID), ...call }));
    expect(found).toEqual({
      ...right,
      calls,
      usage: usage && {
        promptTokens: usage.prompt,
        completionTokens: usage.completion,
        reasoningTokens: usage.reasoning,
      },
    });
  });
});

/** What comes out of it when these pieces go in, one after the other. */
function through(pieces: readonly string[]): string {
  const fields = createErrorFields();
  return pieces.map(fields.add).join('') + fields.flush();
}

function splitsOf(text: string): string[][] {
  const inTwo = Array.from(text, (_, at) => [text.slice(0, at), text.slice(at)]);
  return [[text], [...text], ...inTwo];
}

describe('an error field in an event stream', () => {
  it.each([
    ['error: {"code":500}\n\n', 'event: error\ndata: {"code":500}\n\n'],
    ['data: a\n\nerror: b\n\ndata: c\n\n', 'data: a\n\nevent: error\ndata: b\n\ndata: c\n\n'],
    ['data: a\r\n\r\nerror:b\r\n\r\n', 'data: a\r\n\r\nevent: error\ndata:b\r\n\r\n'],
  ])('becomes an error event, wherever the stream is split: %j', (text, expected) => {
    for (const pieces of splitsOf(text)) expect(through(pieces)).toBe(expected);
  });

  it.each([
    'data: error: no\n\nevent: error\n: error:\nerr\nerror\n\nerro',
    'data: {"a":"error:"}\n\n',
  ])('is not detected where there is none: %j', (text) => {
    for (const pieces of splitsOf(text)) expect(through(pieces)).toBe(text);
  });
});

describe('the address of an upstream engine', () => {
  it.each([
    ['http://host:11434/v1', 'http://host:11434/v1/chat/completions'],
    ['http://host:11434/v1/', 'http://host:11434/v1/chat/completions'],
    ['http://host:8000', 'http://host:8000/v1/chat/completions'],
    ['https://host/openai/v1', 'https://host/openai/v1/chat/completions'],
    ['https://host/api/chat/completions', 'https://host/api/chat/completions'],
    ['https://host/v1?version=2', 'https://host/v1/chat/completions?version=2'],
  ])('%s resolves to %s', (base, expected) => {
    expect(chatCompletionsUrl(base)).toBe(expected);
  });

  it.each([
    ['http://host:11434/v1', 'http://host:11434/v1/models'],
    ['http://host:8000', 'http://host:8000/v1/models'],
    ['https://host/api/chat/completions', 'https://host/api/models'],
  ])('%s has its list of models at %s', (base, expected) => {
    expect(modelsUrl(base)).toBe(expected);
  });
});
