import { type EventKind, WEBHOOK_KINDS } from '../../webhooks/events.ts';
import { webhookKinds } from '../../webhooks/kinds.ts';
import { ApiError, errorBody } from '../contracts/errors.ts';
import { type ErrorCode, errorTable } from '../contracts/errorTable.ts';
import { eventExample } from '../contracts/events.ts';
import { jobListQuery } from '../contracts/job.ts';
import { lockHeaders, type ResponseHeader } from '../contracts/values.ts';
import { codeSamples, examples, jobOfError, streamExample } from './examples.ts';
import type { MediaType, Operation, Parameter, Response } from './openApi.ts';
import { commonErrors, type EndpointDescription } from './operations.ts';
import { eventSchemaName, querySchemas, refTo, type SchemaName } from './schemas.ts';

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
    ['x-request-id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );

function headersOf(code: ErrorCode, locks: boolean): ResponseHeader[] {
  const entry = errorTable[code];
  const names: ResponseHeader[] = locks && afterLock.includes(code) ? [...lockHeaders] : [];
  if ('hasRetryAfter' in entry) names.push('retry-after');
  if ('shouldRetry' in entry) names.push('x-should-retry');
  return names;
}

/** One endpoint in OpenAPI's words. */
export function describeEndpoint(endpoint: EndpointDescription, publicUrl: string): Operation {
  const { id, tag, summary, description, request } = endpoint;
  const samples = codeSamples(id);
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    parameters: parametersOf(endpoint),
    ...(request && {
      requestBody: { required: true, content: { 'application/json': mediaType(request) } },
    }),
    responses: {
      '200': answerOf(endpoint),
      ...describeErrors([...commonErrors, ...endpoint.errors], {
        isPathModel: endpoint.pathParameters?.model_id !== undefined,
        locks: endpoint.headers?.includes('x-svc-job-id') ?? false,
        publicUrl,
      }),
    },
    ...(samples.length > 0 && { 'x-codeSamples': samples }),
  };
}

function parametersOf({
  pathParameters = {},
  requestHeaders = {},
  hasQuery,
}: EndpointDescription): Parameter[] {
  const query = hasQuery ? querySchemas(jobListQuery) : {};
  return [
    ...Object.entries(pathParameters).map(([name, meaning]) =>
      parameter('path', name, meaning, true),
    ),
    ...Object.entries(query).map(([name, { description = '', ...schema }]) => ({
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

function answerOf({ response, streams, headers = [] }: EndpointDescription): Response {
  return {
    description: 'Success.',
    headers: headerRefs(headers),
    content: {
      'application/json': mediaType(response),
      ...(streams && {
        'text/event-stream': {
          schema: {
            type: 'string',
            description: 'Each event is a `ChatCompletionChunk`; the last one is `[DONE]`.',
          },
          example: streamExample,
        },
      }),
    },
  };
}

function mediaType(name: SchemaName): MediaType {
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
