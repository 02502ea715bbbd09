import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { createParser } from 'eventsource-parser';
import type { Express } from 'express';
import { type AppServices, createApp } from '../../api/app.ts';
import { apiErrorCodes, type ErrorCode, errorTable } from '../../api/contracts/errorTable.ts';
import { buildDocument } from '../../api/docs/document.ts';
import type { Method, OpenApiDocument, Operation, Schema } from '../../api/docs/openApi.ts';
import { createRandom } from '../../testing/random.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { WEBHOOK_KINDS } from '../../webhooks/events.ts';
import { createDocumentValidator } from './documentValidator.ts';
import { createFuzzValues, type FuzzValues } from './fuzzValues.ts';

/** For each operation; `FUZZ_REQUESTS=5000` for a long run. */
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 200);
const random = createRandom();

/** What no client may see: frames of a stack, statements, names of files. */
const INSIDE =
  /\n\s+at |node_modules|\.ts:\d|\b(select|insert|update) .+ (from|into|set)\b|relation "/;

let service: RunningService;
let poor: { apiKey: string };
let values: FuzzValues;
const statuses = new Set<number>();

beforeAll(async () => {
  service = await startRunningService({
    apiSettings: { SVC_BURST_REQUESTS: '1000000', SVC_BURST_REFUSED_KEYS: '1000000' },
    queryTimeoutMs: 60_000,
  });
  poor = await service.addWallet(1n);
  const response = await fetch(`${service.baseUrl}/openapi.json`);
  const { components } = (await response.json()) as OpenApiDocument;
  values = createFuzzValues({
    random,
    known: {
      model: [service.model.id],
      messages: [[{ role: 'user', content: 'hi' }]],
      url: ['https://127.0.0.1:9/a', 'https://127.0.0.1:9/b', 'http://127.0.0.1', 'https://[::]'],
      // Few, so that the same webhook is asked for twice.
      events: [['job.completed'], ['job.completed', 'credit.low']],
      received_output_hash: [`sha256:${'0'.repeat(64)}`],
    },
    resolve: (ref) => components.schemas[ref.split('/').at(-1) ?? ''] as Schema,
  });
});

afterAll(() => service.close());

interface Sent {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

function authorization(): string[] {
  const { oneOf, once } = values;
  if (!once(8)) return [`Bearer ${poor.apiKey}`];
  return oneOf([
    [],
    ['Bearer'],
    ['Basic eDp5'],
    [`Bearer svc_live_${'x'.repeat(32)}`],
    ['Bearer é'],
  ]);
}

function headersOf({ parameters = [] }: Operation): Record<string, string> {
  const { oneOf, once } = values;
  const [authorized] = authorization();
  const named = parameters.filter((parameter) => parameter.in === 'header' && once(3));
  return {
    ...(authorized !== undefined && { authorization: authorized }),
    ...(once(4) && { 'content-type': oneOf(['text/plain', 'application/json; charset=x', ';']) }),
    ...(once(20) && { 'content-encoding': oneOf(['gzip', 'br', 'x', 'identity']) }),
    ...(once(10) && { 'x-stainless-retry-count': oneOf(['1', '0', '-1', 'x']) }),
    ...Object.fromEntries(
      named.map(({ name }) => [name, oneOf(['a', 'é', 'a b', 'k'.repeat(300)])]),
    ),
  };
}

function pathOf(path: string, { parameters = [] }: Operation): string {
  const { oneOf, once, text, like } = values;
  const id = () => {
    const hex = Buffer.from(random.bytes(16)).toString('hex');
    return oneOf([`job_${hex}`, `wh_${hex}`, service.model.id, text() || 'x']);
  };
  const filled = path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(id()));
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && once(2))
    .flatMap(({ name, schema }) => Array(once(10) ? 2 : 1).fill([name, String(like(schema))]));
  return query.length === 0 ? filled : `${filled}?${new URLSearchParams(query)}`;
}

function bodyOf({ requestBody }: Operation): string | undefined {
  const { once } = values;
  if (!requestBody) return undefined;
  const body = JSON.stringify(values.like(requestBody.content['application/json']?.schema ?? {}));
  return once(15) ? body.slice(0, random.below(body.length + 1)) : body;
}

/** What few drawn requests reach: a price, which the wallet cannot pay. */
function rareOf(path: string): Sent | undefined {
  if (path !== '/v1/chat/completions') return undefined;
  const messages = [{ role: 'user', content: 'hi' }];
  return {
    ...{ method: 'POST', path, headers: { authorization: `Bearer ${poor.apiKey}` } },
    body: JSON.stringify({ model: service.model.id, messages }),
  };
}

const document = buildDocument('https://api.example.com');
const validate = createDocumentValidator(document);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    ...{ method: method.toUpperCase(), path, operation },
  })),
);

/** Headers that the document is about; the others are HTTP's own. */
const isOwnHeader = (name: string) =>
  /^(x-svc-|x-request-id|x-ratelimit-|x-should-retry|retry-after)/.test(name);

/** What is wrong with the answer; nothing when it is one that the document describes. */
function faultsOf({ status, headers }: Response, text: string, operation: Operation): unknown[] {
  const declared = operation.responses[status];
  const [mediaType = ''] = headers.get('content-type')?.split(';') ?? [];
  const { schema, examples = {} } = declared?.content?.[mediaType] ?? {};
  const named = Object.keys(declared?.headers ?? {});
  const body = schema?.$ref ? JSON.parse(text) : undefined;
  return [
    ...(status >= 500 ? [`was answered with ${status}`] : []),
    ...(schema ? [] : [`${status} as ${mediaType} is not described`]),
    ...(schema?.$ref ? validate(schema, body) : []),
    ...(status < 400 || body?.error.code in examples ? [] : [`${body?.error.code} has no example`]),
    ...[...headers.keys()].filter((name) => isOwnHeader(name) && !named.includes(name)),
    ...(/^req_/.test(headers.get('x-request-id') ?? '') ? [] : ['has no request id']),
    ...(INSIDE.test(text) ? ['shows internals'] : []),
  ];
}

describe('the running service answers as the document describes', () => {
  /** The described answer to a request with the service's key. */
  async function described(method: Method, path: string, sent?: object, at = path) {
    const response = await fetch(service.baseUrl + at, {
      method: method.toUpperCase(),
      headers: { authorization: `Bearer ${service.apiKey}` },
      ...(sent && { body: JSON.stringify(sent) }),
    });
    const text = await response.text();
    const operation = document.paths[path]?.[method] as Operation;
    expect(faultsOf(response, text, operation)).toEqual([]);
    return text;
  }
  const completions = '/v1/chat/completions';
  const messages = [{ role: 'user', content: 'Say hello.' }];

  it('for a completion, its job, and disputes of it [completions.plain] [jobs.object]', async () => {
    const answer = await described('post', completions, { model: service.model.id, messages });
    const at = `/v1/jobs/${JSON.parse(answer).svc.job_id}`;
    const show = async () => JSON.parse(await described('get', '/v1/jobs/{job_id}', undefined, at));
    const dispute = async (received_output_hash: string) => {
      const path = '/v1/jobs/{job_id}/dispute';
      return JSON.parse(await described('post', path, { received_output_hash }, `${at}/dispute`));
    };
    const { on_chain } = await show();
    expect(await dispute(on_chain.proof_hash)).toMatchObject({ dispute_opened: false });
    const other = `sha256:${'0'.repeat(64)}`;
    expect(await dispute(other)).toMatchObject({ dispute_opened: true });
    expect(await dispute(other)).toMatchObject({ error: { code: 'dispute_already_open' } });
    expect(await show()).toMatchObject({ dispute: { status: 'open' } });
    const listed = await described('get', '/v1/jobs', undefined, '/v1/jobs?limit=1');
    expect(JSON.parse(listed).data).toHaveLength(1);
  });

  it('for each chunk of a streamed completion [completions.stream]', async () => {
    const body = { model: service.model.id, messages, stream: true };
    const stream_options = { include_usage: true };
    const sent: string[] = [];
    const parser = createParser({ onEvent: ({ data }) => sent.push(data) });
    parser.feed(await described('post', completions, { ...body, stream_options }));
    const schema = { $ref: '#/components/schemas/ChatCompletionChunk' };

    expect(sent.pop()).toBe('[DONE]');
    expect(sent.length).toBeGreaterThan(3);
    for (const data of sent) expect(validate(schema, JSON.parse(data))).toEqual([]);
  });
});

describe(`requests generated from the OpenAPI document (seed ${random.seed})`, () => {
  const addresses = async () => (await service.jobs()).map(({ address }) => String(address));
  let before: readonly string[];
  beforeAll(async () => {
    before = await addresses();
    // Neither database nor worker counts as away because a machine is busy.
    service.time.hold();
  });

  it.each(operations)(
    'get the documented answers: $name [errors.body] [errors.per-endpoint] [errors.no-internals]',
    async ({ method, path, operation }) => {
      for (let count = 0; count < REQUESTS; count += 1) {
        const body = bodyOf(operation);
        const drawn: Sent = {
          method,
          path: pathOf(path, operation),
          headers: headersOf(operation),
          ...(body !== undefined && { body }),
        };
        const sent = (count === 0 && rareOf(path)) || drawn;
        const { path: at, ...request } = sent;
        const response = await fetch(service.baseUrl + at, request);
        statuses.add(response.status);
        const faults = faultsOf(response, await response.text(), operation);
        if (faults.length > 0) throw new Error(`${JSON.stringify({ sent, faults })}`);
      }
    },
  );

  it('reach each check that a wallet without credits can reach', () => {
    expect([...statuses].sort()).toEqual([200, 400, 401, 402, 404, 409]);
  });

  it('cost no credits', async () => {
    expect(before).toEqual(expect.arrayContaining(await addresses()));
    await service.expectConserved();
  });
});

const events = Object.entries(document.webhooks).map(([name, { post: operation }]) => ({
  name,
  operation,
}));

/** The app's own routes below /v1, spelled as OpenAPI spells them. */
function routesOf(app: Express): string[] {
  return app.router.stack.flatMap(({ route }) => {
    if (!route?.path.startsWith('/v1/')) return [];
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    const methods = new Set(route.stack.map(({ method }) => method.toUpperCase()));
    return [...methods].map((method) => `${method} ${path}`);
  });
}

const codesOf = ({ responses }: Operation): [code: string, status: string][] =>
  Object.entries(responses).flatMap(([status, { content }]) =>
    Object.keys(content?.['application/json']?.examples ?? {}).map((code): [string, string] => [
      code,
      status,
    ]),
  );

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1 [surface.openapi] [versions.release]', async () => {
    expect(await new Validator().validate(structuredClone({ ...document }))).toEqual({
      valid: true,
    });
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document.info.version).toBe('0.1.0');
  });

  it('describes every route of the app below /v1 and no other [surface.openapi]', () => {
    const app = createApp({ publicUrl: '', corsOrigins: [] } as unknown as AppServices);

    expect(operations.map(({ name }) => name).sort()).toEqual(routesOf(app).sort());
  });

  it('describes every kind of event and no other [surface.openapi]', () => {
    expect(events.map(({ name }) => name)).toEqual([...WEBHOOK_KINDS]);
  });

  it('lists every error code, with a status from the error table [errors.per-endpoint]', () => {
    const named = operations.flatMap(({ operation }) => codesOf(operation));
    const known = apiErrorCodes.filter((code) => code !== 'route_not_found');

    expect([...new Set(named.map(([code]) => code))].sort()).toEqual(known.sort());
    for (const [code, status] of named) {
      const statuses = [errorTable[code as ErrorCode].status, code === 'model_not_found' && 404];
      expect(statuses).toContain(Number(status));
    }
  });

  it('names each operation and event apart', () => {
    const names = [...operations, ...events].map(({ operation }) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
  });

  it('requires a key for every endpoint [keys.bearer]', () => {
    expect(document.security).toEqual([{ apiKey: [] }]);
    for (const { operation } of operations) {
      expect(operation.security).toBeUndefined();
      expect(codesOf(operation)).toContainEqual(['missing_api_key', '401']);
    }
  });
});

describe.each([...operations, ...events])('$name', ({ operation }) => {
  const contents = [
    operation.requestBody?.content,
    ...Object.values(operation.responses).map(({ content }) => content),
  ].flatMap((content) => content?.['application/json'] ?? []);

  it('has examples that fit their schemas [surface.openapi]', () => {
    const examples = contents.flatMap(({ schema, example, examples = {} }) =>
      [example, ...Object.values(examples).map(({ value }) => value)]
        .filter((value) => value !== undefined)
        .map((value) => ({ schema, value })),
    );

    expect(examples.length).toBeGreaterThan(0);
    for (const { schema, value } of examples) expect(validate(schema, value)).toEqual([]);
  });
});
