import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createParser } from 'eventsource-parser';
import { buildDocument } from '../../api/docs/document.ts';
import type { Method } from '../../api/docs/openApi.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { createDocumentValidator } from './documentValidator.ts';

const messages = [{ role: 'user', content: 'Say hello.' }];
const url = 'https://example.com/hooks';
let service: RunningService;
let poor: { apiKey: string };

beforeAll(async () => {
  service = await startRunningService();
  poor = await service.addWallet(1n);
});

afterAll(() => service.close());

const document = buildDocument('https://api.example.com');
const validate = createDocumentValidator(document);
/** Headers that the document is about; the others are HTTP's own. */
const isOwnHeader = (name: string) =>
  /^(x-svc-|x-request-id|x-should-retry|retry-after)/.test(name);

async function request(
  method: Method,
  path: string,
  options: { body?: unknown; key?: string | null } = {},
): Promise<Response> {
  const { body, key = service.apiKey } = options;
  return fetch(`${service.baseUrl}${path}`, {
    method: method.toUpperCase(),
    ...(key !== null && { headers: { authorization: `Bearer ${key}` } }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** The described answer, once status, headers and body have been held against the document. */
async function expectDescribed(
  response: Response,
  method: Method,
  path: string,
  // biome-ignore lint/suspicious/noExplicitAny: bodies are read field by field below
): Promise<any> {
  const described = document.paths[path]?.[method]?.responses[response.status];
  if (!described) throw new Error(`${method} ${path} does not describe ${response.status}`);
  const own = [...response.headers.keys()].filter(isOwnHeader);
  expect(Object.keys(described.headers ?? {})).toEqual(expect.arrayContaining(own));
  const media = described.content?.['application/json'];
  const body = await response.json();
  expect(validate(media?.schema ?? {}, body)).toEqual([]);
  if (!response.ok) {
    expect(Object.keys(media?.examples ?? {})).toContain(
      (body as { error: { code: string } }).error.code,
    );
  }
  return body;
}

async function complete(): Promise<string> {
  const body = { model: service.model.id, messages };
  const response = await request('post', '/v1/chat/completions', { body });
  const { id } = await expectDescribed(response, 'post', '/v1/chat/completions');
  return id.replace('chatcmpl-', '');
}

describe('the running service answers as the document describes', () => {
  it('for a completion, its job, and disputes of it [completions.plain] [jobs.object]', async () => {
    const jobId = await complete();
    const shown = await request('get', `/v1/jobs/${jobId}`);
    const job = await expectDescribed(shown, 'get', '/v1/jobs/{job_id}');
    const dispute = async (received_output_hash: string) =>
      expectDescribed(
        await request('post', `/v1/jobs/${jobId}/dispute`, { body: { received_output_hash } }),
        'post',
        '/v1/jobs/{job_id}/dispute',
      );

    expect(await dispute(job.on_chain.proof_hash)).toMatchObject({ dispute_opened: false });
    const other = `sha256:${'0'.repeat(64)}`;
    expect(await dispute(other)).toMatchObject({ dispute_opened: true });
    expect(await dispute(other)).toMatchObject({ error: { code: 'dispute_already_open' } });
    const disputed = await request('get', `/v1/jobs/${jobId}`);
    expect(await expectDescribed(disputed, 'get', '/v1/jobs/{job_id}')).toMatchObject({
      dispute: { status: 'open' },
    });
    const listed = await request('get', '/v1/jobs?limit=1');
    expect((await expectDescribed(listed, 'get', '/v1/jobs')).data).toHaveLength(1);
  });

  it('for each chunk of a streamed completion [completions.stream]', async () => {
    const body = {
      ...{ model: service.model.id, messages, stream: true },
      stream_options: { include_usage: true },
    };
    const response = await request('post', '/v1/chat/completions', { body });
    const sent: string[] = [];
    createParser({ onEvent: ({ data }) => sent.push(data) }).feed(await response.text());
    const schema = { $ref: '#/components/schemas/ChatCompletionChunk' };

    expect(sent.pop()).toBe('[DONE]');
    expect(sent.length).toBeGreaterThan(3);
    for (const data of sent) expect(validate(schema, JSON.parse(data))).toEqual([]);
  });

  it('for models and the account [models.list] [account.balance]', async () => {
    const listed = await request('get', '/v1/models');
    const { data } = await expectDescribed(listed, 'get', '/v1/models');
    expect(data).not.toEqual([]);
    const shown = await request('get', `/v1/models/${service.model.id}`);
    await expectDescribed(shown, 'get', '/v1/models/{model_id}');
    await expectDescribed(await request('get', '/v1/account'), 'get', '/v1/account');
  });

  it('for webhooks from their creation to their deletion', async () => {
    const body = { url, events: ['job.completed'] };
    const create = () => request('post', '/v1/webhooks', { body });

    const created = await expectDescribed(await create(), 'post', '/v1/webhooks');
    await expectDescribed(await create(), 'post', '/v1/webhooks');
    await expectDescribed(await request('get', '/v1/webhooks'), 'get', '/v1/webhooks');
    const path = '/v1/webhooks/{webhook_id}';
    const remove = () => request('delete', `/v1/webhooks/${created.id}`);
    expect(await expectDescribed(await remove(), 'delete', path)).toMatchObject({ deleted: true });
    expect(await expectDescribed(await remove(), 'delete', path)).toMatchObject({
      error: { code: 'webhook_not_found' },
    });
  });

  const completion = { model: 'qwen3-8b', messages };
  it.each([
    ['get', '/v1/account', undefined, null, 401],
    ['get', '/v1/account', undefined, 'svc_live_unknown', 401],
    ['get', '/v1/models/{model_id}', undefined, undefined, 404],
    ['get', '/v1/jobs/{job_id}', undefined, undefined, 404],
    ['get', '/v1/jobs', undefined, undefined, 200],
    ['post', '/v1/jobs/{job_id}/dispute', {}, undefined, 400],
    ['post', '/v1/webhooks', { url: 'http://example.com', events: [] }, undefined, 400],
    ['post', '/v1/chat/completions', { ...completion, messages: [] }, undefined, 400],
    ['post', '/v1/chat/completions', { ...completion, model: 'none' }, undefined, 400],
    ['post', '/v1/chat/completions', completion, 'poor', 402],
  ] as const)(
    'for %s %s with %j and the key %s: %i [errors.body] [errors.per-endpoint]',
    async (method, path, body, key, status) => {
      const response = await request(method, path.replaceAll(/[{}]/g, ''), {
        body,
        ...(key !== undefined && { key: key === 'poor' ? poor.apiKey : key }),
      });

      expect(response.status).toBe(status);
      await expectDescribed(response, method, path);
    },
  );
});
