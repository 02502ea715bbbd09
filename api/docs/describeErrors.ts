import { type ErrorCode, errorTable } from '../contracts/errorTable.ts';
import { lockHeaders, type ResponseHeader } from '../contracts/headers.ts';
import { ApiError, errorBody } from '../errors.ts';
import type { Response } from './openApi.ts';
import { refTo } from './schemas.ts';

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
  /** Whether the endpoint locks credits. */
  locks: boolean;
  /** Whether the model is named by the path: then it is what does not exist. */
  isPathModel: boolean;
}

/** The error responses of one endpoint: one per status, with an example of each code. */
export function describeErrors(
  codes: readonly ErrorCode[],
  where: Where,
): Record<string, Response> {
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
    description: errors.map(({ code }) => describe(code)).join('\n\n'),
    headers: Object.fromEntries(
      ['x-request-id', ...headers].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
    ),
    content: {
      'application/json': {
        schema: refTo('Error'),
        examples: Object.fromEntries(
          errors.map((error) => [error.code, { value: errorBody(error, publicUrl) }]),
        ),
      },
    },
  };
}

function describe(code: ErrorCode): string {
  return `\`${code}\`: ${errorTable[code].meaning}`;
}

function headersOf(code: ErrorCode, locks: boolean): ResponseHeader[] {
  const entry = errorTable[code];
  const names: ResponseHeader[] = locks && afterLock.includes(code) ? [...lockHeaders] : [];
  if ('hasRetryAfter' in entry) names.push('retry-after');
  if ('shouldRetry' in entry) names.push('x-should-retry');
  return names;
}
