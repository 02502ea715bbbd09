import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createUpstreamEngine } from '../../worker/engine/upstream.ts';
import type { ChatRequest } from '../../worker/protocol/contracts.ts';
import { asWorkerError } from '../../worker/protocol/errors.ts';
import { type Dialect, readDialects } from './dialects/read.ts';

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
  const written = { text: '', reasoning: '' };
  const { signal } = new AbortController();
  try {
    for await (const event of engine.generate(chat, { tokenLimit: 1_000, signal })) {
      if (event.type === 'text' || event.type === 'reasoning') written[event.type] += event.text;
      if (event.type !== 'end') continue;
      if (written.text === '') return { error: 'empty_output' };
      return { ...written, finish: event.finishReason, usage: event.usage };
    }
  } catch (error) {
    const { code, param } = asWorkerError(error);
    return { error: code, ...(param !== undefined && { param }) };
  }
  return {};
}

describe('an answer in the dialect of', () => {
  it.each(dialects)('$name: $about', async (dialect) => {
    const { expect: right } = dialect;
    const found = await read(dialect);
    if ('error' in right) return expect(found).toEqual(right);
    const { usage } = right;
    expect(found).toEqual({
      ...right,
      usage: usage && {
        promptTokens: usage.prompt,
        completionTokens: usage.completion,
        reasoningTokens: usage.reasoning,
      },
    });
  });
});
