import { once } from 'node:events';
import { request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { createLogger } from '../../../common/logger.ts';
import { createHeliusMetrics } from '../../../indexer/helius/metrics.ts';
import { createWebhookServer } from '../../../indexer/helius/webhookServer.ts';

const SECRET = 'a secret that only Helius and we know';
const BODY_BYTES_MAX = 1_048_576;

const registry = new Registry();
let server: Server;
let url: string;
let hints = 0;
let failure: Error | undefined;

beforeAll(async () => {
  server = createWebhookServer({
    secret: SECRET,
    async onHint() {
      if (failure) throw failure;
      hints += 1;
    },
    logger: createLogger({ name: 'test', level: 'silent' }),
    metrics: createHeliusMetrics(registry),
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/helius`;
});

afterAll(() => {
  server.close();
  server.closeAllConnections();
});

beforeEach(() => {
  hints = 0;
  failure = undefined;
});

async function post(authorization: string | undefined, body: string): Promise<Response> {
  return fetch(url, { method: 'POST', body, headers: { ...(authorization && { authorization }) } });
}

describe("the webhook's endpoint", () => {
  it('takes every request with the secret as a hint, whatever it says', async () => {
    for (const body of ['[{"transaction":{"signatures":["a"]}}]', '[', '{}', '', '\0'.repeat(9)]) {
      expect((await post(SECRET, body)).status).toBe(200);
    }
    expect(hints).toBe(5);
  });

  it('refuses whoever does not send exactly the secret', async () => {
    for (const wrong of [undefined, 'a', SECRET.slice(1), `${SECRET}x`, `Bearer ${SECRET}`]) {
      expect((await post(wrong, '[]')).status).toBe(401);
    }
    expect(hints).toBe(0);
  });

  it('refuses every method but POST', async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS']) {
      const response = await fetch(url, { method, headers: { authorization: SECRET } });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    }
    expect(hints).toBe(0);
  });

  it('takes a body of up to 1 MiB, and no larger one', async () => {
    expect((await post(SECRET, 'x'.repeat(BODY_BYTES_MAX))).status).toBe(200);
    expect(hints).toBe(1);
    const asking = request(url, { method: 'POST', headers: { authorization: SECRET } });
    // Without a length, so that only counting tells; and without an end.
    asking.write('x'.repeat(BODY_BYTES_MAX));
    asking.write('x');
    const [response] = await once(asking, 'response');
    expect([response.statusCode, response.headers.connection]).toEqual([413, 'close']);
    asking.on('error', () => {}).destroy();
    expect(hints).toBe(1);
  });

  it('closes the connection of whoever sends too slowly', async () => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const head = ['POST / HTTP/1.1', 'host: x', `authorization: ${SECRET}`, 'content-length: 9'];
    socket.write(`${head.join('\r\n')}\r\n\r\n[`);
    socket.resume();
    await once(socket, 'close');
    expect(hints).toBe(0);
  }, 10_000);

  it('tells Helius to repeat a hint that could not be passed on', async () => {
    failure = new Error('the database is away');
    expect((await post(SECRET, '[]')).status).toBe(503);
    failure = undefined;
    expect((await post(SECRET, '[]')).status).toBe(200);
    expect(hints).toBe(1);
    expect(await registry.metrics()).toContain('svc_helius_webhook_requests_total{status="503"} 1');
  });
});
