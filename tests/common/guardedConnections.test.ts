import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Dispatcher } from 'undici';
import { createGuardedDispatcher, requestWithin } from '../../common/net/addressGuard.ts';

/** Accepts connections, and never begins the TLS handshake. */
let server: Server;
let dispatcher: Dispatcher;
let url: string;
const sockets = new Set<Socket>();

beforeAll(async () => {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  // Far longer than any test may take.
  dispatcher = createGuardedDispatcher({ allowLoopback: true, connectTimeoutMs: 60_000 });
});

afterAll(async () => {
  await dispatcher.destroy();
  for (const socket of sockets) socket.destroy();
  server.close();
});

describe('exchanges with a server whose TLS handshake hangs', () => {
  it('each end by their own signal, however many there are', async () => {
    const exchanges = Array.from({ length: 16 }, (_, index) =>
      requestWithin(url, { dispatcher, signal: AbortSignal.timeout(50 + 10 * index) }),
    );
    const ends = await Promise.allSettled(exchanges);
    expect(ends.map(({ status }) => status)).toEqual(Array(16).fill('rejected'));
  });

  it('do not keep an exchange with another server waiting', async () => {
    const hanging = new AbortController();
    const stuck = requestWithin(url, { dispatcher, signal: hanging.signal }).catch(() => 'ended');
    const other = createServer((socket) => {
      socket.end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n');
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { statusCode } = await requestWithin(`http://127.0.0.1:${port}/`, {
      dispatcher,
      signal: new AbortController().signal,
    });
    expect(statusCode).toBe(204);
    other.close();
    hanging.abort();
    expect(await stuck).toBe('ended');
  });
});
