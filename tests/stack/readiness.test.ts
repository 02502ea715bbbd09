import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { untilReady } from '../../stack/child.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function listen(answer: RequestListener): Promise<string> {
  server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('waiting for a process', () => {
  it('times out when it listens but does not answer', async () => {
    const time = new AbortController();
    const url = await listen(() => time.abort());
    await expect(untilReady(url, time.signal)).rejects.toMatchObject({
      name: 'StackError',
      message: 'The mirror does not catch up: it does not answer',
    });
  });

  it('times out with its last output when it never becomes ready', async () => {
    const time = new AbortController();
    let requests = 0;
    const url = await listen((_request, response) => {
      requests += 1;
      response.writeHead(503).end('lag 7');
      // It asks again once it has read an answer.
      if (requests === 2) time.abort();
    });
    await expect(untilReady(url, time.signal)).rejects.toThrow(
      'The mirror does not catch up: lag 7',
    );
  });

  it('continues when a connection breaks', async () => {
    let requests = 0;
    const url = await listen((request, response) => {
      requests += 1;
      if (requests === 1) request.socket.destroy();
      else response.writeHead(requests === 2 ? 503 : 200).end('lag 7');
    });
    await untilReady(url, new AbortController().signal);
    expect(requests).toBe(3);
  });
});
