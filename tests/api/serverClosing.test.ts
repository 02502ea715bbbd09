import { once } from 'node:events';
import { Agent, createServer, request, type Server, type ServerResponse } from 'node:http';
import https from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { prepareClosing } from '../../api/http/server.ts';
import { createSelfSigned } from './selfSigned.ts';

let server: Server;
let close: () => Promise<void>;
let drain: () => void;
let port: number;
/** The answers that were asked for, in order; each test gives them. */
let answers: ServerResponse[];

beforeEach(async () => {
  answers = [];
  server = createServer();
  ({ close, drain } = prepareClosing(server));
  server.on('request', (_request, response) => void answers.push(response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** A connection on which these requests were sent, once the last of them has arrived. */
async function ask(...paths: string[]): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await askAgain(socket, ...paths);
  return socket;
}

async function askAgain(socket: Socket, ...paths: string[]): Promise<void> {
  const expected = answers.length + paths.length;
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
  while (answers.length < expected) await once(server, 'request');
}

/** What comes after each head, and whether that says that the connection closes. */
function parse(received: string): [string, boolean][] {
  return received
    .split('HTTP/1.1 200 OK\r\n')
    .slice(1)
    .map((answer) => [answer.split('\r\n\r\n')[1] ?? '', /^connection: close\r$/im.test(answer)]);
}

const end = (answer: ServerResponse | undefined, body: string) =>
  answer?.setHeader('content-length', body.length).end(body);

describe('a closing server', () => {
  it('does not wait for a connection that never carried a request', async () => {
    const ahead = connect(port, '127.0.0.1');
    await Promise.all([once(ahead, 'connect'), once(server, 'connection')]);
    await close();
    await once(ahead, 'close');
  });

  it('still takes requests while it drains, each as the last of its connection', async () => {
    const kept = await ask('/1');
    drain();
    end(answers[0], 'one');
    expect(parse(await text(kept))).toEqual([['one', true]]);
    const later = await ask('/2');
    end(answers[1], 'two');
    expect(parse(await text(later))).toEqual([['two', true]]);
    await close();
  });

  it('does not wait for a handshake that never ends', async () => {
    const { certificate: cert, key } = createSelfSigned();
    const secure = https.createServer({ cert, key });
    const { close: closeSecure } = prepareClosing(secure);
    secure.listen(0, '127.0.0.1');
    await once(secure, 'listening');
    const ahead = connect((secure.address() as AddressInfo).port, '127.0.0.1');
    await once(secure, 'connection');
    await closeSecure();
    await once(ahead, 'close');
  });

  it('does not wait for an incomplete request on a kept-alive connection', async () => {
    const opened = once(server, 'connection');
    const socket = await ask('/1');
    const [served] = (await opened) as [Socket];
    end(answers[0], 'one');
    await once(socket, 'data');
    const before = served.bytesRead;
    // Closed with something unread, the connection is reset.
    socket.on('error', () => undefined);
    socket.write('GET /2 HTTP/1.1\r\n');
    while (served.bytesRead === before) await setImmediate();
    await close();
    expect(answers).toHaveLength(1);
  });

  it('accepts no further request on open connections and announces their close', async () => {
    // given clients that ask on connections that they keep, each again when it is answered
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    const endings: unknown[] = [];
    const client = async () => {
      for (;;) {
        const asked = request({ port, agent }).end();
        const [response] = await once(asked, 'response');
        endings.push(response.headers.connection);
        await text(response);
      }
    };
    const clients = Array.from({ length: 8 }, client);
    while (answers.length < 8) await once(server, 'request');
    // when the server closes while it owes each an answer
    const closed = close();
    for (const answer of answers) end(answer, 'served');
    // then those are all that it gives
    await closed;
    await Promise.allSettled(clients);
    expect(endings).toEqual(Array(8).fill('close'));
    expect(answers).toHaveLength(8);
  });

  it('sends all answers to pipelined requests and closes after the last', async () => {
    const socket = await ask('/1', '/2');
    const closed = close();
    end(answers[0], 'one');
    end(answers[1], 'two');
    expect(parse(await text(socket))).toEqual([
      ['one', false],
      ['two', true],
    ]);
    await closed;
  });

  it('accepts no request behind the last answer of its connection', async () => {
    const socket = await ask('/1');
    const closed = close();
    socket.write('POST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello');
    await once(server, 'request');
    end(answers[0], 'one');
    expect(parse(await text(socket))).toEqual([['one', true]]);
    await closed;
    expect(answers).toHaveLength(1);
  });

  it('answers a request that comes behind a started answer, as the last one', async () => {
    const socket = await ask('/1');
    answers[0]?.setHeader('content-length', 3).write('o');
    await once(socket, 'data');
    const closed = close();
    await askAgain(socket, '/2');
    answers[0]?.end('ne');
    end(answers[1], 'two');
    expect(await text(socket)).toMatch(/^neHTTP\/1\.1 200 OK\r\nconnection: close\r\n.*two$/is);
    await closed;
  });

  it('lets a slow reader receive its whole answer', async () => {
    const socket = connect(port, '127.0.0.1').pause();
    await askAgain(socket, '/1');
    // More than the system takes from a server whose client does not read.
    const body = 'x'.repeat(32 * 1_024 * 1_024);
    end(answers[0], body);
    const closed = close();
    const [[received] = ['']] = parse(await text(socket));
    expect(received.length).toBe(body.length);
    await closed;
  });
});
