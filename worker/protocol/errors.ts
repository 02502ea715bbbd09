import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { z } from 'zod';
import { REQUEST_LIMITS, scanJson } from '../../common/format.ts';
import type { Logger } from '../../common/logger.ts';
import { STATUS_OF_WORKER_ERROR, type WorkerErrorCode } from '../../common/workerProtocol.ts';
import { parseJson } from '../../programs/client/parseJson.ts';

export type { WorkerErrorCode };

/** A refusal or failure that the caller receives. Its message never quotes a prompt or answer. */
export class WorkerError extends Error {
  override name = 'WorkerError';
  readonly code: WorkerErrorCode;
  /** After how many seconds asking again may help, where that is known. */
  readonly retryAfterSeconds: number | undefined;
  /** The field of the chat that was refused. */
  readonly param: string | undefined;

  constructor(
    code: WorkerErrorCode,
    message: string,
    options: ErrorOptions & {
      retryAfterSeconds?: number | undefined;
      param?: string | undefined;
    } = {},
  ) {
    super(message, options);
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.param = options.param;
  }

  get status(): number {
    return STATUS_OF_WORKER_ERROR[this.code];
  }

  /** The body of an error response, and the data of an `error` event. */
  toJSON() {
    const { code, message, param, retryAfterSeconds: retry_after } = this;
    // Behind a sign of life no header can say it. What is undefined is left out.
    return { error: { code, message, param, retry_after } };
  }
}

/** Unexpected errors are only logged; the caller gets `internal_error`. */
export function asWorkerError(error: unknown): WorkerError {
  if (error instanceof WorkerError) return error;
  return new WorkerError('internal_error', 'The worker failed', { cause: error });
}

export const routeNotFound: RequestHandler = () => {
  throw new WorkerError('route_not_found', 'There is no such route');
};

/**
 * Every failure before the first event has this one shape: `{"error": {code, message}}`.
 *
 * @param onRefusal called with the code of each answer to a request for a job
 */
export function createErrorRenderer(
  logger: Logger,
  onRefusal: (code: WorkerErrorCode) => void,
): ErrorRequestHandler {
  return (error, request, response, _next) => {
    const failure = asBodyError(error) ?? asWorkerError(error);
    const wasForeseen = failure === error || failure.code !== 'internal_error';
    if (!wasForeseen) {
      logger.error({ msg: 'Failed to answer a request', path: request.path, err: error });
    }
    if (request.path === '/jobs') onRefusal(failure.code);
    const { status, retryAfterSeconds } = failure;
    if (retryAfterSeconds !== undefined) response.setHeader('retry-after', retryAfterSeconds);
    response.status(status).json(failure);
  };
}

/** Errors of express while it reads a request have their own status. */
function asBodyError(error: unknown): WorkerError | undefined {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  if (error instanceof WorkerError || typeof status !== 'number' || status >= 500) return undefined;
  return status === 413
    ? new WorkerError('body_too_large', 'The body is too large')
    : new WorkerError('invalid_request', 'The request cannot be read');
}

/**
 * A gateway takes no larger request from its client, and adds the fields of the job. Anybody may
 * send a body, and its signature is checked once it names a job.
 */
const LIMITS = {
  depth: REQUEST_LIMITS.depth + 4,
  values: REQUEST_LIMITS.values + 64,
  fieldValues: REQUEST_LIMITS.values + 64,
};

/** Enough to find the faults; a hostile body may have thousands. */
const PATHS_MAX = 5;

/** The JSON of a body, as it came. @throws WorkerError `invalid_request` */
export function readJson(body: unknown): unknown {
  const { fault } = scanJson(Buffer.isBuffer(body) ? body : Buffer.from(String(body)), LIMITS);
  if (fault) throw new WorkerError('invalid_request', fault.message);
  try {
    return parseJson(String(body));
  } catch {
    throw new WorkerError('invalid_request', 'The body is not JSON');
  }
}

/** @throws WorkerError `invalid_request` with the names of the first faulty fields, not their values */
export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.slice(0, PATHS_MAX);
  const paths = issues.map(({ path }) => path.join('.') || 'the body').join(', ');
  throw new WorkerError('invalid_request', `Missing or malformed: ${paths}`);
}
