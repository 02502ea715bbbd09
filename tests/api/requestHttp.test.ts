import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createKey } from '../../api/account/keys.ts';
import { bodyWith, openRequestScene, type RequestScene } from './requestScene.ts';

const REQUEST_TIMEOUT_MS = 200;
let scene: RequestScene;
/** The same with another key, and little patience. */
let hurried: RequestScene;

beforeAll(async () => {
  scene = await openRequestScene();
  hurried = await openRequestScene({
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: 20,
  });
});

afterAll(async () => {
  await scene.close();
  await hurried.close();
});

function open(at = scene): Socket {
  const { hostname, port } = new URL(at.url);
  return connect(Number(port), hostname);
}

/** All that comes back on a connection, once the other side has closed it. */
async function exchange(request: string, at = scene): Promise<string> {
  const socket = open(at);
  socket.write(request);
  return text(socket);
}

/** The answer that comes before the request's body does, which the client then gives up. */
async function earlyAnswer(request: string): Promise<string> {
  const socket = open();
  socket.write(request);
  let answer = '';
  for await (const chunk of socket) {
    answer += chunk;
    const [, length] = /content-length: (\d+)/i.exec(answer) ?? [];
    if (answer.split('\r\n\r\n')[1]?.length === Number(length)) break;
  }
  return answer;
}

const valid = bodyWith();
const BYTES_MAX = 2 * 1_024 * 1_024;

/** A completion with these header lines; the connection is to be closed after it. */
function post(lines: string[], body = valid, { apiKey } = scene): string {
  const own = ['Host: x', `Authorization: Bearer ${apiKey}`, 'Connection: close', ...lines];
  return `POST /v1/chat/completions HTTP/1.1\r\n${own.join('\r\n')}\r\n\r\n${body}`;
}

function get(path: string, lines = ['Host: x'], version = '1.1'): string {
  const own = [`Authorization: Bearer ${scene.apiKey}`, 'Connection: close', ...lines];
  return `GET ${path} HTTP/${version}\r\n${own.join('\r\n')}\r\n\r\n`;
}

function expectRefused(answer: string, message: string, details?: object): void {
  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  expect(answer).toMatch(/\r\nx-request-id: req_[0-9a-f]{32}\r\n/i);
  expect(JSON.parse(answer.slice(answer.indexOf('{')))).toEqual({
    error: {
      code: 'invalid_request',
      message: expect.stringContaining(message),
      type: 'invalid_request_error',
      param: message.includes('Host') ? 'Host' : null,
      docs: 'https://api.example.com/docs/errors#invalid_request',
      ...(details && { details }),
    },
  });
}

describe('a request of ambiguous length', () => {
  const length = `Content-Length: ${valid.length}`;
  it.each([
    ['by length and in chunks', [length, 'Transfer-Encoding: chunked']],
    ['with two lengths', [length, 'Content-Length: 3']],
    ['with a length that is no number', ['Content-Length: 0x10']],
    ['with chunks that are none', ['Transfer-Encoding: chunked']],
  ])('is refused: %s [errors.malformed-http]', async (_case, lines) => {
    expectRefused(await exchange(post(lines)), 'not valid HTTP');
  });

  it('is refused before it has arrived when it announces more than 2 MiB', async () => {
    const answer = await earlyAnswer(post([`Content-Length: ${BYTES_MAX + 1}`], ''));
    expectRefused(answer, 'larger than 2 MiB', { max_bytes: BYTES_MAX });
  });
});

describe('a request that does not arrive completely', () => {
  it.each([
    ['its body never ends', () => post([`Content-Length: ${valid.length + 1}`], valid, hurried)],
    ['its large body never ends', () => post(['Content-Length: 100000'], valid, hurried)],
    ['its chunks never end', () => post(['Transfer-Encoding: chunked'], '5\r\n{"a":\r\n', hurried)],
    ['its headers never end', () => 'GET /v1/models HTTP/1.1\r\nHost: x\r\n'],
  ])('is answered at its time-out: %s [errors.malformed-http]', async (_case, request) => {
    expectRefused(await exchange(request(), hurried), 'did not arrive in time');
  });

  it.each([
    ['without a key', 401, 'Accept: */*', 1_000_000],
    ['above 2 MiB', 400, 'KEY', 5_000_000],
  ])('ends its connection when it is refused early: %s', async (_why, status, line, length) => {
    const key = line === 'KEY' ? `Authorization: Bearer ${scene.apiKey}` : line;
    const head = ['Host: x', key, `Content-Length: ${length}`].join('\r\n');
    const answer = await earlyAnswer(`POST /v1/chat/completions HTTP/1.1\r\n${head}\r\n\r\n{"mod`);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer.toLowerCase()).toContain('connection: close');
  });

  it('is taken up to 8 MiB once it was refused, and its connection then ends', async () => {
    const socket = open();
    socket.on('error', () => undefined);
    socket.write(post([`Content-Length: ${100 * BYTES_MAX}`], ''));
    const answered = text(socket).catch(() => '');
    let sent = 0;
    for (const chunk = Buffer.alloc(65_536); !socket.destroyed && sent < 100 * BYTES_MAX; ) {
      if (!socket.write(chunk)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
      sent += chunk.length;
    }
    await answered;
    expect(sent).toBeGreaterThan(3 * BYTES_MAX);
    expect(sent).toBeLessThan(20 * BYTES_MAX);
  });

  it.each([valid.length + 1, 100_000])(
    'leaves the service working when a client leaves in a body of %d bytes',
    async (length) => {
      const socket = open();
      socket.end(post([`Content-Length: ${length}`]));
      expectRefused(await text(socket), 'not valid HTTP');
      expect(await scene.send(valid)).toMatchObject({ status: 200 });
    },
  );
});

describe('a body of a wallet without credits', () => {
  it.each([
    ['of 16 KiB', `Content-Length: ${16_384}`, valid.padEnd(16_384), '200'],
    ['of more', `Content-Length: ${16_385}`, '', '402'],
    ['in chunks', 'Transfer-Encoding: chunked', '', '402'],
    ['compressed', 'Content-Length: 9\r\nContent-Encoding: gzip', '', '402'],
  ])('is read or refused before any of it has arrived: %s', async (how, line, body, status) => {
    const apiKey = await createKey(scene.pool, `a wallet ${how}`);
    const answer = await earlyAnswer(post([line], body, { ...scene, apiKey }));
    expect(answer.slice(9, 12)).toBe(status);
  });
});

describe('a request that violates HTTP', () => {
  it.each([
    ['headers of more than 16 KiB', () => get('/', [`X: ${'x'.repeat(17_000)}`]), '16 KiB'],
    ['another protocol', () => '\u0016\u0003\u0001\u0002\r\n\r\n', 'not valid HTTP'],
    ['no host', () => get('/v1/models', []), 'Host'],
    ['two hosts', () => get('/v1/models', ['Host: a', 'Host: b']), 'Host'],
    ['an expectation', () => post(['Expect: tea', 'Content-Length: 0'], ''), 'expectation'],
    ['NUL in its path', () => get('/v1/jobs/%00'), 'NUL'],
  ])(
    'is refused with the usual error body: %s [errors.malformed-http]',
    async (_case, request, message) => {
      expectRefused(await exchange(request()), message);
    },
  );

  it('closes the connection silently while an earlier request is unanswered', async () => {
    const before = `GET /v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${scene.apiKey}\r\n\r\n`;
    const socket = open();
    socket.on('error', () => undefined);
    socket.write(`${before}${before}\u0000\r\n\r\n`);
    expect(await text(socket).catch(() => '')).not.toContain('400 Bad Request');
  });

  it('may omit the host in HTTP/1.0', async () => {
    expect(await exchange(get('/health', [], '1.0'))).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  it('may wait for 100 Continue before it sends its body', async () => {
    const lines = ['Expect: 100-continue', `Content-Length: ${valid.length}`];
    const answer = await exchange(post(lines));
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
  });
});

describe('a request for a tunnel', () => {
  const tunnel = 'CONNECT host:443 HTTP/1.1\r\nHost: host:443\r\n\r\n';

  it('is refused with the usual error body', async () => {
    const answer = await exchange(`${tunnel}hello`);
    expectRefused(answer, 'CONNECT is not supported: this is no proxy.');
    expect(answer).toMatch(/\r\nconnection: close\r\n/);
  });

  it('leaves the service working when its client disconnects before the answer', async () => {
    for (const socket of Array.from({ length: 20 }, () => open())) {
      socket.on('error', () => undefined);
      socket.write(tunnel, () => socket.resetAndDestroy());
    }
    expect(await exchange(get('/health'))).toMatch('200 OK');
  });
});

describe('a request to upgrade the protocol', () => {
  const upgrade =
    'GET /health HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';

  it.each([
    ['alone', '\r\n'],
    ['with a body', 'Content-Length: 5\r\n\r\nhello'],
    ['before another', '\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('is answered as any other and its connection closes: %s', async (_case, rest) => {
    const answer = await exchange(upgrade + rest);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n.*connection: close\r\n.*"ok"/is);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });
});
