import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ServedApp, serveApp } from './serveApp.ts';

let app: ServedApp;

beforeAll(async () => {
  app = await serveApp();
});

afterAll(() => app.close());

function open(): Socket {
  const { hostname, port } = new URL(app.url);
  return connect(Number(port), hostname);
}

/** All that comes back on a connection, once the other side has closed it. */
async function exchange(request: string): Promise<string> {
  const socket = open();
  socket.write(request);
  return text(socket);
}

const upgrade = 'Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';

describe('a request for a tunnel', () => {
  it('is refused with the usual error body', async () => {
    const answer = await exchange('CONNECT host:443 HTTP/1.1\r\nHost: host:443\r\n\r\nhello');
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toMatch(/\r\nx-request-id: req_[0-9a-f]{32}\r\n/);
    expect(answer).toMatch(/\r\nconnection: close\r\n/);
    expect(JSON.parse(answer.slice(answer.indexOf('{')))).toEqual({
      error: {
        code: 'invalid_request',
        message: 'CONNECT is not supported: this is no proxy.',
        type: 'invalid_request_error',
        param: null,
        docs: 'https://api.example.com/docs/errors#invalid_request',
      },
    });
  });

  it('leaves the service working when its client disconnects before the answer', async () => {
    const sockets = Array.from({ length: 20 }, open);
    for (const socket of sockets) {
      socket.on('error', () => undefined);
      socket.write('CONNECT host:443 HTTP/1.1\r\nHost: host:443\r\n\r\n', () =>
        socket.resetAndDestroy(),
      );
    }
    expect(await exchange(`GET /health HTTP/1.1\r\n${upgrade}\r\n`)).toMatch('200 OK');
  });
});

describe('a request to upgrade the protocol', () => {
  it.each([
    ['alone', `GET /health HTTP/1.1\r\n${upgrade}\r\n`],
    ['with a body', `GET /health HTTP/1.1\r\n${upgrade}Content-Length: 5\r\n\r\nhello`],
    [
      'before another',
      `GET /health HTTP/1.1\r\n${upgrade}\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n`,
    ],
  ])('is answered as any other and its connection closes: %s', async (_case, request) => {
    const answer = await exchange(request);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n.*connection: close\r\n.*"ok"/is);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });
});
