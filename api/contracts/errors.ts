import { z } from 'zod';
import { jobId } from '../../common/contracts/values.ts';
import { isTransient, lacksMirror } from '../../common/transientErrors.ts';
import { LedgerUnavailableError } from '../../programs/client/sender/sendResult.ts';
import {
  apiErrorCodes,
  type ErrorCode,
  type ErrorEntry,
  errorTable,
  errorTypeOf,
  errorTypes,
} from './errorTable.ts';

/** The body of every error, and of the last event of a stream that failed. */
export const errorObject = z.object({
  error: z.object({
    code: z.enum(apiErrorCodes),
    message: z.string().describe('For people; its wording may change.'),
    type: z.enum(errorTypes),
    param: z.string().nullable().describe('The request field at fault, if there is one.'),
    docs: z.string().meta({ format: 'uri' }).describe('Where this code is described.'),
    details: z.record(z.string(), z.unknown()).optional().describe('What depends on the code.'),
  }),
  svc: z
    .object({ job_id: jobId, verify_url: z.string().meta({ format: 'uri' }) })
    .optional()
    .describe('Our choice: the job, in every error after a lock.'),
});

/** The job that a request had become when it failed. */
export type ErrorJob = NonNullable<ErrorBody['svc']>;

export type ErrorBody = z.infer<typeof errorObject>;

interface ApiErrorOptions {
  param?: string | undefined;
  /** Code-specific facts; amounts as JSON numbers. */
  details?: Record<string, unknown>;
  /** Seconds for the `Retry-After` header. */
  retryAfterSeconds?: number;
  /** Overrides the table's status: an unknown model is 400 in a body and 404 in a path. */
  status?: 404;
  cause?: unknown;
}

type EntryOf<Code extends ErrorCode> = (typeof errorTable)[Code];

/** Allows only the details that the table, and so the documentation, names for the code. */
type DetailsOf<Code extends ErrorCode> =
  EntryOf<Code> extends { details: readonly (infer Field extends string)[] }
    ? EntryOf<Code> extends { hasAllDetails: true }
      ? { details: { readonly [Name in Field]: string | number } }
      : { details?: { readonly [Name in Field]?: unknown } }
    : { details?: never };

type OptionsOf<Code extends ErrorCode> = Omit<ApiErrorOptions, 'details' | 'retryAfterSeconds'> &
  DetailsOf<Code> & {
    retryAfterSeconds?: EntryOf<Code> extends { hasRetryAfter: true } ? number : never;
  };

/** An error that a client may see. Everything else becomes a bare `internal_error`. */
export class ApiError<Code extends ErrorCode = ErrorCode> extends Error {
  override name = 'ApiError';
  readonly code: ErrorCode;
  readonly options: ApiErrorOptions;

  constructor(
    code: Code,
    message: string,
    ...rest: EntryOf<Code> extends { hasAllDetails: true }
      ? [options: OptionsOf<Code>]
      : [options?: OptionsOf<Code>]
  ) {
    const options: ApiErrorOptions = rest[0] ?? {};
    super(message, { cause: options.cause });
    this.code = code;
    this.options = options;
  }

  get status(): number {
    return this.options.status ?? errorTable[this.code].status;
  }
}

/** The client left before anything was locked for it: there is nothing to answer or to log. */
export class ClientLeftError extends Error {
  override name = 'ClientLeftError';
}

/**
 * @param publicUrl the service root that clients use, for the documentation link
 * @param job which the request had become, where it had
 */
export function errorBody(error: ApiError, publicUrl: string, job?: ErrorJob): ErrorBody {
  const { param, details, status } = error.options;
  return {
    error: {
      code: error.code,
      message: error.message,
      type: status === 404 ? 'not_found_error' : errorTypeOf(error.code),
      param: param ?? null,
      docs: `${publicUrl}/docs/errors#${error.code}`,
      ...(details && { details }),
    },
    ...(job && { svc: job }),
  };
}

/** The headers that belong to an error besides its body. */
export function errorHeaders(error: ApiError): Record<string, string> {
  const { retryAfterSeconds } = error.options;
  const { shouldRetry }: ErrorEntry = errorTable[error.code];
  return {
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
    ...(shouldRetry === false && { 'x-should-retry': 'false' }),
  };
}

/**
 * The answer to any thrown value. An ApiError stays as it is. A lost database, mirror or ledger is a
 * 503 that is safe to retry. Anything else is an `internal_error` without a detail.
 */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (lacksMirror(thrown)) {
    return serviceUnavailable('Balances and jobs are being read from the ledger again.', thrown);
  }
  if (isUnavailable(thrown)) return serviceUnavailable('A part of the service is away.', thrown);
  return new ApiError('internal_error', 'Something went wrong on our side.', { cause: thrown });
}

export function serviceUnavailable(message: string, cause?: unknown): ApiError {
  return new ApiError('service_unavailable', message, { retryAfterSeconds: 5, cause });
}

export function accountRequired(): ApiError {
  return new ApiError(
    'account_required',
    'The wallet has no credit account on the ledger yet. Its first purchase of credits opens it.',
  );
}

function isUnavailable(thrown: unknown): boolean {
  return thrown instanceof LedgerUnavailableError || isTransient(thrown);
}
