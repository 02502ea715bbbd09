import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import http from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';

let service: RunningService;

beforeAll(async () => {
  service = await startRunningService();
});

afterAll(() => service.close());

function post(body: string): Promise<Response> {
  return fetch(`${service.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
    body,
  });
}

describe('a streamed answer', () => {
  it('ends with the settlement in trailers, and its job confirms it [completions.stream] [completions.stream-headers] [completions.stream-trailers] [models.engine]', async () => {
    const request = http.request(`${service.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.apiKey}` },
    });
    request.end(
      JSON.stringify({
        model: service.model.id,
        messages: [{ role: 'user', content: 'Say hello.' }],
        stream: true,
      }),
    );
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response) text += chunk;
    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-svc-engine': 'builtin',
    });
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    const job = await service.get(`/v1/jobs/${response.headers['x-svc-job-id']}`);
    expect(job).toMatchObject({
      status: 'settled',
      on_chain: {
        escrow_tx: response.headers['x-svc-tx-signature'],
        settlement_tx: response.trailers['x-svc-settlement-tx'],
        proof_hash: response.trailers['x-svc-output-hash'],
      },
    });
    expect(response.trailers['x-svc-credits-remaining']).toBe('9992');
    expect(response.trailers['x-svc-delivery-receipt']).toMatch(/^\w+\.[\w-]{86}$/);
  });
});

describe('an invalid request', () => {
  it.each([
    ['GET', '/v1/chat/completions'],
    ['POST', '/v1/models'],
    ['GET', '/v1/embeddings'],
    ['POST', '/v1/assistants'],
    ['DELETE', '/'],
  ])('gets route_not_found: %s %s [errors.routes]', async (method, path) => {
    const response = await fetch(`${service.baseUrl}${path}`, { method });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      error: { code: 'route_not_found', type: 'not_found_error', param: null },
    });
  });

  it.each([
    ['broken JSON', '{"model": '],
    ['no object', '[1, 2]'],
    ['an empty body', ''],
    ['more than 4 MiB', JSON.stringify({ model: 'x', messages: 'x'.repeat(4 * 1_024 * 1_024) })],
  ])('gets invalid_request: %s [completions.body-limits]', async (_name, body) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: 'invalid_request', type: 'invalid_request_error' },
    });
  });

  it('gets the usual error body even if it is not HTTP [errors.malformed-http]', async () => {
    const { hostname, port } = new URL(service.baseUrl);
    const socket = connect(Number(port), hostname);
    socket.end('GET / HTTP/9.9\r\nnonsense\r\n\r\n');
    let answer = '';
    for await (const chunk of socket) answer += chunk;
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(JSON.parse(answer.slice(answer.indexOf('{')))).toMatchObject({
      error: { code: 'invalid_request' },
    });
  });
});

describe('the documentation of errors', () => {
  it('has an anchor for the code that an error links to [errors.documented]', async () => {
    const response = await fetch(`${service.baseUrl}/v1/models`);
    const { error } = (await response.json()) as { error: { docs: string } };
    const [page, anchor] = error.docs.split('#');
    const text = await fetch(page as string).then((found) => found.text());
    expect(text).toContain(`id="${anchor}"`);
  });
});

describe('a model with only silent workers', () => {
  it('exists, is not listed, and answers 503 before anything is locked [failures.nothing-locked] [models.hosted-only] [errors.no-workers]', async () => {
    const silent = await startRunningService({ workers: [] });
    try {
      expect(await silent.get(`/v1/models/${silent.model.id}`)).toMatchObject({
        svc: { active_workers: 0 },
      });
      expect(await silent.get('/v1/models')).toEqual({ object: 'list', data: [] });
      const messages = [{ role: 'user' as const, content: 'Say hello.' }];
      const asking = silent.openai().chat.completions.create({ model: silent.model.id, messages });
      await expect(asking).rejects.toMatchObject({
        status: 503,
        code: 'no_workers_available',
        type: 'capacity_error',
        error: { details: { model: silent.model.id, retry_after: 60 } },
      });
      expect(await silent.jobs()).toEqual([]);
    } finally {
      await silent.close();
    }
  });
});
