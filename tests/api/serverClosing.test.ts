import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { prepareClosing } from '../../api/serverClosing.ts';

let server: Server;
let close: () => Promise<void>;
let port: number;
let respond: (() => void) | undefined;

beforeEach(async () => {
  server = createServer((_request, response) => {
    response.write('begun');
    respond = () => response.end();
  });
  close = prepareClosing(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

describe('a server that closes', () => {
  it('does not wait for a connection that never carried a request', async () => {
    const ahead = connect(port, '127.0.0.1');
    await Promise.all([once(ahead, 'connect'), once(server, 'connection')]);
    await close();
    await once(ahead, 'close');
  });

  it('lets the response under way end, and then its connection', async () => {
    const asked = request({ port, agent: false, headers: { connection: 'keep-alive' } }).end();
    const [response] = await once(asked, 'response');
    response.resume();
    const closed = close();
    const waits = await Promise.race([closed.then(() => 'closed'), once(response, 'data')]);
    expect(waits).not.toBe('closed');
    respond?.();
    await once(response, 'end');
    await closed;
    expect(response.complete).toBe(true);
  });
});
