import { jobListQuery } from '../contracts/jobList.ts';
import { codeSamples } from './codeSamples.ts';
import { describeErrors } from './describeErrors.ts';
import { examples, streamExample } from './examples.ts';
import type { MediaType, Operation, Parameter, Response } from './openApi.ts';
import { commonErrors, type EndpointDescription } from './operations.ts';
import { querySchemas, refTo, type SchemaName } from './schemas.ts';

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
  const text = { type: 'string' };
  return [
    ...Object.entries(pathParameters).map(
      ([name, description]): Parameter => ({
        ...{ name, in: 'path', required: true, description, schema: text },
      }),
    ),
    ...Object.entries(hasQuery ? querySchemas(jobListQuery) : {}).map(
      ([name, { description = '', ...schema }]): Parameter => ({
        ...{ name, in: 'query', required: false, description, schema },
      }),
    ),
    ...Object.entries(requestHeaders).map(
      ([name, description]): Parameter => ({
        ...{ name, in: 'header', required: false, description, schema: text },
      }),
    ),
  ];
}

function answerOf({ response, streams, headers = [] }: EndpointDescription): Response {
  const names = ['x-request-id', ...headers];
  return {
    description: 'Success.',
    headers: Object.fromEntries(
      names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
    ),
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
