import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { buildDocument } from '../../api/docs/document.ts';
import type { OpenApiDocument, Operation, Schema } from '../../api/docs/openApi.ts';
import { createRandom } from '../../testing/random.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
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
  // Neither database nor worker counts as away because a machine is busy.
  service.time.hold();
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

/** What is wrong with the answer; nothing when it is one that the document describes. */
async function faultsOf(sent: Sent, operation: Operation): Promise<unknown[]> {
  const { path, ...request } = sent;
  const response = await fetch(service.baseUrl + path, request);
  const text = await response.text();
  const { status } = response;
  statuses.add(status);
  const declared = operation.responses[status];
  const [mediaType = ''] = response.headers.get('content-type')?.split(';') ?? [];
  const schema = declared?.content?.[mediaType]?.schema;
  return [
    ...(status >= 500 ? [`was answered with ${status}`] : []),
    ...(schema ? [] : [`${status} as ${mediaType} is not described`]),
    ...(schema?.$ref ? validate(schema, JSON.parse(text)) : []),
    ...(/^req_/.test(response.headers.get('x-request-id') ?? '') ? [] : ['has no request id']),
    ...(INSIDE.test(text) ? ['shows internals'] : []),
  ];
}

describe(`requests generated from the OpenAPI document (seed ${random.seed})`, () => {
  it.each(operations)(
    'get the documented answers: $name [errors.per-endpoint] [errors.no-internals]',
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
        const faults = await faultsOf(sent, operation).catch((error: unknown) => [String(error)]);
        if (faults.length > 0) throw new Error(`${JSON.stringify({ sent, faults })}`);
      }
    },
  );

  it('reach each check that a wallet without credits can reach', () => {
    expect([...statuses].sort()).toEqual([200, 400, 401, 402, 404, 409]);
  });

  it('cost no credits', async () => {
    expect(await service.jobs()).toEqual([]);
    await service.expectConserved();
  });
});
