import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import type { Request } from 'express';
import { ApiError } from '../../api/contracts/errors.ts';
import { createBurstLimit } from '../../api/http/middleware/authentication.ts';
import { serveApp } from './serveApp.ts';

const from = (ip: string) => ({ ip }) as Request;

function limited(burst: number, refillPerSecond: number) {
  let now = 0;
  const limit = createBurstLimit({ burst, refillPerSecond, nowMs: () => now });
  return {
    request(ip: string) {
      limit.spend(from(ip));
    },
    advanceMs: (ms: number) => {
      now += ms;
    },
  };
}

it('no 429 can be made that does not say whose limit it was', () => {
  // @ts-expect-error The types require both details: `npm run check` judges that.
  expect(new ApiError('rate_limit_exceeded', 'Too many.', { details: { limit: 1 } })).toBeDefined();
});

describe('the burst limit', () => {
  it('admits the burst, then refuses with Retry-After in whole seconds [limits.burst]', () => {
    const { request } = limited(3, 1);
    for (let i = 0; i < 3; i += 1) request('192.0.2.1');
    expect(() => request('192.0.2.1')).toThrow(
      expect.objectContaining({
        options: {
          retryAfterSeconds: 1,
          details: { limit: 3, limit_of: 'address' },
        },
      }),
    );
  });

  it('refills at its rate and never above the burst [limits.burst]', () => {
    const { request, advanceMs } = limited(2, 10);
    request('192.0.2.1');
    request('192.0.2.1');
    advanceMs(99);
    expect(() => request('192.0.2.1')).toThrow();
    advanceMs(1);
    request('192.0.2.1');
    advanceMs(3_600_000);
    request('192.0.2.1');
    request('192.0.2.1');
    expect(() => request('192.0.2.1')).toThrow();
  });

  it.each([
    ['counts each IPv4 address separately', '192.0.2.1', '192.0.2.2', false],
    ['counts a v4-mapped address as the IPv4 address', '192.0.2.1', '::ffff:192.0.2.1', true],
    ['counts an IPv6 /64 as one client', '2001:db8::1', '2001:db8::ffff:1', true],
    ['ignores the port that a proxy forwards', '192.0.2.1:50001', '192.0.2.1:50002', true],
    ['ignores it in brackets too', '[2001:db8::1]:443', '[2001:db8::1]:444', true],
    ['counts an address with and without a port as one', '192.0.2.1', '192.0.2.1:50001', true],
    ['counts all that is no address as one', 'unknown-1', 'unknown-2', true],
    ['counts each IPv6 /64 separately', '2001:db8:0:1::1', '2001:db8:0:2::1', false],
  ])('%s [limits.burst]', (_behaviour, first, second, isOne) => {
    const { request } = limited(1, 1);
    request(first);
    if (isOne) expect(() => request(second)).toThrow();
    else expect(() => request(second)).not.toThrow();
  });
});

describe('an answer of /v1', () => {
  const names = ['limit', 'remaining', 'reset'].map((name) => `x-ratelimit-${name}-requests`);

  it('says what is left of the burst, also where it is refused [limits.burst]', async () => {
    let readings = 0;
    const nowMs = () => {
      readings += 1;
      return 0;
    };
    const bursts = createBurstLimit({ burst: 2, refillPerSecond: 0.4, nowMs });
    const app = await serveApp({ bursts });
    const ask = async (path: string) => {
      const { status, headers } = await fetch(`${app.url}${path}`);
      return [status, ...names.map((name) => headers.get(name))];
    };
    expect(await ask('/v1/models')).toEqual([401, '2', '1', '3s']);
    expect(await ask('/v1/nothing')).toEqual([404, '2', '0', '5s']);
    expect(await ask('/v1/models')).toEqual([429, '2', '0', '5s']);
    expect(await ask('/health')).toEqual([429, null, null, null]);
    // Each request looks its address up once.
    expect(readings).toBe(4);
    await app.close();
  });
});

describe('a request beyond the burst limit', () => {
  it.each([
    ['whose body is still to come closes its connection', 'Content-Length: 1000000', 'close'],
    ['without a body keeps its connection', 'Content-Length: 0', 'keep-alive'],
  ])('%s [limits.burst]', async (_behaviour, length, connection) => {
    const bursts = createBurstLimit({ burst: 0, refillPerSecond: 1, nowMs: () => 0 });
    const app = await serveApp({ bursts }, { keepAliveTimeout: 100 });
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname);
    socket.write(`POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n${length}\r\n\r\n`);
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 429 /);
    expect(answer.toLowerCase()).toContain(`\r\nconnection: ${connection}\r\n`);
    await app.close();
  });
});
