import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createGuardedAgents, type GuardedAgents } from '../../../common/net/addressGuard.ts';
import {
  EXCHANGE_MS_MAX,
  exchange,
  RESPONSE_MS_MAX,
} from '../../../indexer/webhooks/deliver/exchange.ts';
import { until } from '../../../testing/until.ts';

// Receivers that answer as no HTTP library of ours would: over a socket, byte for byte.

/** For what has to run out; far above what an exchange takes. */
const EXCHANGE_MS = 200;
const RESPONSE_MS = 100;
const MiB = 1_048_576;

let server: Server;
let agents: GuardedAgents;
let url: string;
let answer: (socket: Socket) => void;
let requests: string[];
const sockets = new Set<Socket>();

beforeAll(async () => {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    socket.on('data', (bytes) => {
      requests.push(bytes.toString());
      answer(socket);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
});

beforeEach(() => {
  agents?.destroy();
  agents = createGuardedAgents({ allowLoopback: true });
  requests = [];
});

afterAll(async () => {
  agents.destroy();
  for (const socket of sockets) socket.destroy();
  server.close();
});

const post = (timeoutMs = 10_000, responseMs = RESPONSE_MS_MAX) =>
  exchange(agents, { url, headers: {}, body: '{}' }, timeoutMs, responseMs);

/** Writes until its connection is closed, as fast as it is read. */
function writeForEver(socket: Socket, bytes: string | Buffer): void {
  const more = () => {
    for (let isRoom = true; isRoom && !socket.destroyed; ) isRoom = socket.write(bytes);
  };
  socket.on('drain', more);
  more();
}

const early = 'HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\n\r\n';
const proceed = 'HTTP/1.1 100 Continue\r\n\r\n';
const processing = 'HTTP/1.1 102 Processing\r\n\r\n';
const whole = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

describe('a whole 2xx head in time is a delivery', () => {
  it.each<[string, string | Buffer, number]>([
    ['with its whole body', whole, 200],
    ['without a reason', 'HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok', 200],
    ['of 204 with a body', 'HTTP/1.1 204 No Content\r\n\r\nnothing of HTTP', 204],
    ['of 202, still open', 'HTTP/1.1 202 Accepted\r\ntransfer-encoding: chunked\r\n\r\n', 202],
    ['with a body too short', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nok', 200],
    ['with chunks that are none', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz', 200],
    [
      'with gzip that is none',
      'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\nok',
      200,
    ],
    [
      'that offers another protocol',
      `${whole.replace('\r\n', '\r\nconnection: upgrade\r\nupgrade: h2c\r\n')}`,
      200,
    ],
    ['after 102, 100 and 103', `${processing}${proceed}${early}${whole}`, 200],
    ['after a hundred of 1xx', `${early.repeat(100)}${whole}`, 200],
    ['of 60,000 bytes', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(60_000)}\r\n\r\n`, 200],
  ])('%s', async (_what, bytes, statusCode) => {
    answer = (socket) => void socket.end(bytes);
    expect(await post()).toMatchObject({ error: null, statusCode });
    expect(requests).toHaveLength(1);
  });

  it('with what came of its body within a second', async () => {
    expect(RESPONSE_MS_MAX).toBe(1_000);
    answer = (socket) =>
      void socket.write('HTTP/1.1 202 Accepted\r\ntransfer-encoding: chunked\r\n\r\n4\r\nwait\r\n');
    const outcome = await post(undefined, RESPONSE_MS);
    expect(outcome).toMatchObject({ error: null, statusCode: 202, response: 'wait' });
    await until(() => sockets.size === 0);
  });

  it('whose endless body keeps neither memory nor a connection', async () => {
    answer = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      writeForEver(socket, Buffer.alloc(MiB, 'x'));
    };
    const before = process.memoryUsage().arrayBuffers;
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => post()));
    for (const { error, response } of outcomes) {
      expect([error, response?.length]).toEqual([null, 4_096]);
    }
    await until(() => sockets.size === 0);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * MiB);
  });

  it('whose connection serves the next delivery where its body ended', async () => {
    answer = (socket) => void socket.write(whole);
    for (const _time of [1, 2, 3]) expect(await post()).toMatchObject({ error: null });
    expect([requests.length, sockets.size]).toEqual([3, 1]);
  });
});

describe('a failure', () => {
  it.each<[string, string, string, number | null]>([
    ['a redirect', 'HTTP/1.1 307 Go\r\nlocation: /other\r\n\r\n', 'bad_status', 307],
    ['another status after 1xx', `${proceed}HTTP/1.1 500 No\r\n\r\n`, 'bad_status', 500],
    [
      'a protocol that was not asked for',
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n\0\0',
      ...(['bad_status', 101] as const),
    ],
    ['an end without a byte', '', 'connection_reset', null],
    ['1xx alone', `${early}${proceed}`, 'connection_lost', null],
    ['no HTTP', 'I am no web server\r\n\r\n', 'bad_response', null],
    [
      'two lengths',
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok',
      ...(['bad_response', null] as const),
    ],
    ['a head of 70,000 bytes', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(70_000)}`, 'bad_response', null],
    ['a head cut off', 'HTTP/1.1 200 OK\r\ncontent-le', 'connection_lost', null],
  ])('is %s', async (_what, bytes, error, statusCode) => {
    answer = (socket) => void socket.end(bytes);
    expect(await post()).toMatchObject({ error, statusCode });
    expect(requests).toHaveLength(1);
    await until(() => sockets.size === 0);
  });

  it('is a reset without a byte, also of a connection that answered before', async () => {
    answer = (socket) => void socket.write(whole);
    expect(await post()).toMatchObject({ error: null });
    answer = (socket) => void socket.resetAndDestroy();
    expect(await post()).toMatchObject({ error: 'connection_reset', statusCode: null });
  });

  it('is shown with the Retry-After of its receiver', async () => {
    const head = `HTTP/1.1 503 No\r\nretry-after: ${'9'.repeat(200)}\r\ncontent-length: 5\r\n\r\n`;
    answer = (socket) => void socket.write(`${head}later`);
    const response = `Retry-After: ${'9'.repeat(100)}\nlater`;
    expect(await post()).toMatchObject({ error: 'bad_status', statusCode: 503, response });
  });

  it('is 1xx without an end', async () => {
    answer = (socket) => writeForEver(socket, early.repeat(200));
    expect(await post()).toMatchObject({ error: 'bad_response', statusCode: null });
    await until(() => sockets.size === 0);
  });

  it.each([
    ['silence', () => undefined],
    ['silence after 1xx', (socket: Socket) => void socket.write(early)],
    [
      'a head that never ends',
      (socket: Socket) => void socket.write('HTTP/1.1 200 OK\r\nx: y\r\n'),
    ],
  ])('is %s for ten seconds [events.ten-seconds]', async (_what, behave) => {
    expect(EXCHANGE_MS_MAX).toBe(10_000);
    answer = behave;
    const outcome = await post(EXCHANGE_MS);
    expect(outcome).toMatchObject({ error: 'timeout', statusCode: null });
    expect(outcome.durationMs).toBeGreaterThanOrEqual(EXCHANGE_MS - 5);
    await until(() => sockets.size === 0);
  });
});
