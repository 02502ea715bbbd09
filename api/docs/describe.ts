import type { z } from 'zod';
import { describePriceSteps } from '../../common/priceSteps.ts';
import { type EventKind, WEBHOOK_KINDS } from '../../webhooks/events.ts';
import { webhookKinds } from '../../webhooks/kinds.ts';
import { ApiError, errorBody } from '../contracts/errors.ts';
import { type ErrorCode, errorTable } from '../contracts/errorTable.ts';
import { modelList } from '../contracts/network.ts';
import type { CompletionForm, Route, RouteDocs } from '../contracts/route.ts';
import { commonHeaders, lockHeaders, type ResponseHeader } from '../contracts/values.ts';
import { codeSamples, eventExample, examples, jobOfError, streamExamples } from './examples.ts';
import type { MediaType, Operation, Parameter, Response } from './openApi.ts';
import { eventSchemaName, nameOf, querySchemas, refTo } from './schemas.ts';

/** What can happen to a request whose credits are locked: such an answer names its job. */
const afterLock: readonly ErrorCode[] = [
  'context_length_exceeded',
  'internal_error',
  'worker_failed',
  'service_unavailable',
  'job_timeout',
];

interface Where {
  publicUrl: string;
  locks: boolean;
  /** Whether the model is named by the path: then it is what does not exist. */
  isPathModel: boolean;
}

/** The error responses of one endpoint: one per status, with an example of each code. */
function describeErrors(codes: readonly ErrorCode[], where: Where): Record<string, Response> {
  const errors = codes.map((code) => {
    const isMissing = code === 'model_not_found' && where.isPathModel;
    return new ApiError(code, errorTable[code].meaning, isMissing ? { status: 404 } : {});
  });
  const byStatus = Map.groupBy(errors, ({ status }) => status);
  return Object.fromEntries([...byStatus].map(([status, those]) => [status, answer(those, where)]));
}

function answer(errors: readonly ApiError[], { publicUrl, locks }: Where): Response {
  const headers = new Set(errors.flatMap(({ code }) => headersOf(code, locks)));
  return {
    description: errors.map(({ code }) => `\`${code}\`: ${errorTable[code].meaning}`).join('\n\n'),
    headers: headerRefs(headers),
    content: {
      'application/json': {
        schema: refTo('Error'),
        examples: Object.fromEntries(
          errors.map((error) => {
            const isOfJob = locks && afterLock.includes(error.code);
            return [
              error.code,
              { value: errorBody(error, publicUrl, isOfJob ? jobOfError : undefined) },
            ];
          }),
        ),
      },
    },
  };
}

const headerRefs = (names: Iterable<string>) =>
  Object.fromEntries(
    [...commonHeaders, ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );

function headersOf(code: ErrorCode, locks: boolean): ResponseHeader[] {
  const entry = errorTable[code];
  const names: ResponseHeader[] = locks && afterLock.includes(code) ? [...lockHeaders] : [];
  if ('hasRetryAfter' in entry) names.push('retry-after');
  if ('shouldRetry' in entry) names.push('x-should-retry');
  return names;
}

/** Those that every endpoint has. */
const commonErrors: readonly ErrorCode[] = [
  'invalid_request',
  'missing_api_key',
  'invalid_api_key',
  'key_suspended',
  'rate_limit_exceeded',
  'internal_error',
  'service_unavailable',
];

/** A route with what it is called and what holders of keys read of it. */
type Endpoint = Route & { name: string; docs: RouteDocs };

/** One endpoint in OpenAPI's words. */
export function describeEndpoint(endpoint: Endpoint, publicUrl: string): Operation {
  const { name, body, docs, needsSpender } = endpoint;
  const samples = codeSamples(name);
  return {
    operationId: name,
    tags: [docs.tag],
    summary: docs.summary,
    description: descriptionOf(endpoint),
    parameters: parametersOf(endpoint),
    ...(body && {
      requestBody: { required: true, content: { 'application/json': mediaType(body) } },
    }),
    responses: {
      '200': answerOf(endpoint),
      ...describeErrors([...commonErrors, ...(docs.errors ?? [])], {
        isPathModel: docs.pathParameters?.model_id !== undefined,
        locks: needsSpender ?? false,
        publicUrl,
      }),
    },
    ...(samples.length > 0 && { 'x-codeSamples': samples }),
  };
}

/** A list of prices says where a longer text costs less: by the price that its example has. */
function descriptionOf({ answer, docs }: Endpoint): string {
  if (answer !== modelList) return docs.description;
  return [docs.description, ...describePriceSteps([examples.Model.svc])].join(' ');
}

function parametersOf({ query, docs }: Endpoint): Parameter[] {
  const { pathParameters = {}, requestHeaders = {} } = docs;
  const asked = query ? querySchemas(query) : {};
  return [
    ...Object.entries(pathParameters).map(([name, meaning]) =>
      parameter('path', name, meaning, true),
    ),
    ...Object.entries(asked).map(([name, { description = '', ...schema }]) => ({
      ...parameter('query', name, description),
      schema,
    })),
    ...Object.entries(requestHeaders).map(([name, meaning]) => parameter('header', name, meaning)),
  ];
}

function parameter(
  place: Parameter['in'],
  name: string,
  description: string,
  required = false,
): Parameter {
  return { name, in: place, required, description, schema: { type: 'string' } };
}

function answerOf({ answer: schema, form, docs }: Endpoint): Response {
  const stream = streamExamples[form as CompletionForm];
  return {
    description: 'Success.',
    headers: headerRefs(docs.headers ?? []),
    content: {
      ...(schema && { 'application/json': mediaType(schema) }),
      ...(stream && { 'text/event-stream': { schema: { type: 'string', ...stream } } }),
    },
  };
}

function mediaType(schema: z.ZodType): MediaType {
  const name = nameOf(schema);
  const example = name in examples ? examples[name as keyof typeof examples] : undefined;
  return { schema: refTo(name), ...(example && { example }) };
}

const headers: Record<string, string> = {
  'Svc-Signature':
    '`t=<unix seconds>,v1=<hex>`: the HMAC-SHA256 of `<t>.<raw body>` under the secret of the webhook.',
  'Svc-Signature-Previous': 'Our choice: during a rotation, the same under the previous secret.',
  'Svc-Event-Id': 'Our choice: the id of the event.',
  'Svc-Delivery-Attempt': 'Our choice: from 1.',
  'webhook-id': 'Our choice: the id of the event, as Standard Webhooks names it.',
  'webhook-timestamp': 'Our choice: the time of this attempt, in Unix seconds.',
  'webhook-signature': 'Our choice: the signature of Standard Webhooks.',
};

const parameters = Object.entries(headers).map(([name, meaning]) =>
  parameter('header', name, meaning, name !== 'Svc-Signature-Previous'),
);

/** What is sent to webhooks, one operation per kind of event. */
export function describeEvents(): Record<string, { post: Operation }> {
  return Object.fromEntries(WEBHOOK_KINDS.map((kind) => [kind, { post: describeEvent(kind) }]));
}

function describeEvent(kind: EventKind): Operation {
  const schema = refTo(eventSchemaName(kind));
  return {
    operationId: `on${eventSchemaName(kind)}`,
    tags: ['Events'],
    summary: kind,
    description: meaningOf(webhookKinds[kind]),
    // Deliveries are signed, they carry no key.
    security: [],
    parameters,
    requestBody: {
      required: true,
      content: { 'application/json': { schema, example: eventExample(kind) } },
    },
    responses: {
      '2XX': { description: 'Delivered, if it is answered within 10 seconds.' },
      default: {
        description:
          'Failed: tried again 30 s, 5 min, 30 min and 2 h after the end of the attempt before.',
      },
    },
  };
}

/** What this service adds to the interface is marked as its choice. */
function meaningOf(kind: { meaning: string; choice?: string; isOurs?: true }): string {
  const { meaning, choice, isOurs } = kind;
  const asChoice = (text: string) => `Our choice: ${text.charAt(0).toLowerCase()}${text.slice(1)}`;
  if (isOurs) return asChoice(meaning);
  return choice === undefined ? meaning : `${meaning} ${asChoice(choice)}`;
}
