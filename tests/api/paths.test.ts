import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ServedApp, serveApp } from './serveApp.ts';

const PUBLIC_URL = 'https://api.example.com';
const ORIGIN = 'https://page.example.com';
let app: ServedApp;

beforeAll(async () => {
  app = await serveApp({ publicUrl: PUBLIC_URL, corsOrigins: [ORIGIN] });
});

afterAll(() => app.close());

/** The path goes out as it stands, which a URL would change. */
async function ask(method: string, path: string) {
  const { port } = new URL(app.url);
  const request = http.request({ method, path, port, agent: false, headers: { origin: ORIGIN } });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const { statusCode: status, headers } = response;
  const { error } = JSON.parse(await readText(response));
  return { status, headers, code: error?.code, message: error?.message };
}

const withoutKey = { status: 401, code: 'missing_api_key' };

describe('a path with too many slashes', () => {
  it.each([
    ['POST', '//v1/chat/completions'],
    ['POST', '///v1///chat//completions//'],
    ['POST', '/v1/chat/completions/'],
    ['GET', '//v1/models?a=//b'],
    ['GET', 'http://api.example.com//v1//models'],
  ])('finds its route: %s %s [errors.routes]', async (method, path) => {
    expect(await ask(method, path)).toMatchObject(withoutKey);
  });

  it("is read by the pages of other origins no more than the web app's own API", async () => {
    const { headers } = await ask('GET', '//console/api/session');
    expect(headers['access-control-allow-origin']).toBeUndefined();
    expect((await ask('GET', '//v1/models')).headers['access-control-allow-origin']).toBe(ORIGIN);
  });

  it.each(['//evil.example', '//evil.example/', '///evil.example//..', '/\\evil.example//'])(
    'leads nowhere else: %s',
    async (path) => {
      const { status, headers, message } = await ask('GET', path);
      expect([status, headers.location]).toEqual([404, undefined]);
      expect(message).toBe(`There is no GET ${path}.`);
    },
  );
});

describe('a path that no route has', () => {
  it.each([
    ['POST', '/chat/completions', 'POST', '/v1/chat/completions'],
    ['POST', '/v1/v1/chat/completions', 'POST', '/v1/chat/completions'],
    ['POST', '/v1/chat/completions/chat/completions', 'POST', '/v1/chat/completions'],
    ['POST', '/api/v1/chat/completions', 'POST', '/v1/chat/completions'],
    ['POST', '/V1/Chat/Completions', 'POST', '/v1/chat/completions'],
    ['GET', '/v1/chat/completions', 'POST', '/v1/chat/completions'],
    ['PUT', '/v1/webhooks', 'POST or GET', '/v1/webhooks'],
    ['GET', '/v2/models', 'GET', '/v1/models'],
    ['POST', '/models', 'GET', '/v1/models'],
    ['GET', '/models/a-model', 'GET', '/v1/models/{model_id}'],
    ['POST', '/jobs/job_1/dispute', 'POST', '/v1/jobs/{job_id}/dispute'],
    ['DELETE', '/v1/v1/webhooks/wh_1', 'DELETE', '/v1/webhooks/{webhook_id}'],
    ['GET', '/v1/v1/jobs/models', 'GET', '/v1/jobs/{job_id}'],
    ['GET', '/v1/health', 'GET', '/health'],
    ['POST', '/responses', 'POST', '/v1/responses'],
    ['GET', '/v1/responses', 'POST', '/v1/responses'],
  ])('names the nearest one: %s %s [errors.routes]', async (method, path, meant, at) => {
    expect(await ask(method, path)).toMatchObject({
      status: 404,
      code: 'route_not_found',
      message: `There is no ${method} ${path}. Did you mean ${meant} ${PUBLIC_URL}${at}?`,
    });
  });

  it.each(['/messages/count_tokens', '/v1/completions', '/v1/v1/embeddings'])(
    'names the formats that are served, and asks for no retry: %s',
    async (path) => {
      const { status, headers, message } = await ask('POST', path);
      expect([status, headers['x-should-retry']]).toEqual([404, 'false']);
      expect(message).toBe(
        `There is no POST ${path}. This service has two formats: ` +
          `POST ${PUBLIC_URL}/v1/chat/completions and POST ${PUBLIC_URL}/v1/responses`,
      );
    },
  );

  it.each([
    ['GET', ''],
    ['DELETE', ''],
    ['GET', '/input_items'],
    ['POST', '/cancel'],
  ])('names the job of a response, since none is stored: %s …%s', async (method, below) => {
    const jobId = 'job_01a22b86ec2f700088840c5f3b21887c';
    const job = (id: string) =>
      `No response is stored. Its job is at GET ${PUBLIC_URL}/v1/jobs/${id}`;
    const { status, message } = await ask(method, `/v1/responses/resp_${jobId}${below}`);
    expect([status, message]).toEqual([404, expect.stringContaining(job(jobId))]);
    expect((await ask(method, '/v1/responses/resp_1')).message).toContain(job('{job_id}'));
  });

  it.each(['/v1/files', '/', '/v1', '/completion/chat'])(
    'names none where none is near: %s',
    async (path) => {
      expect(await ask('POST', path)).toMatchObject({
        status: 404,
        message: `There is no POST ${path}.`,
      });
    },
  );
});
