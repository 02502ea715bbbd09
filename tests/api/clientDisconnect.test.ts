import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { abortWhenLeft } from '../../api/response/delivery.ts';

let server: Server;

beforeEach(async () => {
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** A request's connection, and the answer that it waits for. */
async function ask(): Promise<{ socket: Socket; response: ServerResponse }> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  return { socket, response };
}

describe('a client', () => {
  it('is noticed when it disconnected before the request was handled', async () => {
    const { socket, response } = await ask();
    socket.resetAndDestroy();
    await once(response, 'close');
    expect(abortWhenLeft(response).aborted).toBe(true);
  });
});
