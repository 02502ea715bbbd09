import { LedgerUnavailableError } from '../programs/client/sender/outcome.ts';
import { isPassing } from '../runtime/passingErrors.ts';
import type { ErrorBody } from './contracts/error.ts';
import { type ErrorCode, type ErrorEntry, errorTable } from './contracts/errorTable.ts';

export interface ApiErrorOptions {
  /** The request field at fault. */
  param?: string;
  /** Code-specific facts; amounts as JSON numbers. */
  details?: Record<string, unknown>;
  /** Seconds for the `Retry-After` header. */
  retryAfterSeconds?: number;
  /** Overrides the table's status: an unknown model is 400 in a body and 404 in a path. */
  status?: 404;
  cause?: unknown;
}

/** With no other facts than the table, and so the documentation, names for the code. */
type OptionsOf<Code extends ErrorCode> = Omit<ApiErrorOptions, 'details' | 'retryAfterSeconds'> & {
  retryAfterSeconds?: (typeof errorTable)[Code] extends { hasRetryAfter: true } ? number : never;
  details?: (typeof errorTable)[Code] extends { details: readonly (infer Field extends string)[] }
    ? { readonly [Name in Field]?: unknown }
    : never;
};

/** An error that a client may see. Everything else becomes a bare `internal_error`. */
export class ApiError<Code extends ErrorCode = ErrorCode> extends Error {
  override name = 'ApiError';
  readonly code: ErrorCode;
  readonly options: ApiErrorOptions;

  constructor(code: Code, message: string, options: OptionsOf<Code> = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.options = options;
  }

  get status(): number {
    return this.options.status ?? errorTable[this.code].status;
  }
}

/** The client left before anything was locked for it: nobody is to be told, and nothing is wrong. */
export class ClientLeftError extends Error {
  override name = 'ClientLeftError';
}

/** @param publicUrl the service root that clients use, for the documentation link */
export function errorBody(error: ApiError, publicUrl: string): ErrorBody {
  const { param, details, status } = error.options;
  return {
    error: {
      code: error.code,
      message: error.message,
      type: status === 404 ? 'not_found_error' : errorTable[error.code].type,
      param: param ?? null,
      docs: `${publicUrl}/docs/errors#${error.code}`,
      ...(details && { details }),
    },
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
 * What a client is told about any thrown value: an ApiError as it is; a lost database or ledger as
 * a 503 that is safe to retry; the rest as an `internal_error` that says nothing of its inside.
 */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (isUnavailable(thrown)) return serviceUnavailable('A part of the service is away.', thrown);
  return new ApiError('internal_error', 'Something went wrong on our side.', { cause: thrown });
}

export function serviceUnavailable(message: string, cause?: unknown): ApiError {
  return new ApiError('service_unavailable', message, { retryAfterSeconds: 5, cause });
}

function isUnavailable(thrown: unknown): boolean {
  return thrown instanceof LedgerUnavailableError || isPassing(thrown);
}
