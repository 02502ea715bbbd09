import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { Logger } from '../common/logger.ts';
import { asWorkerError, WorkerError } from './errors.ts';

export const routeNotFound: RequestHandler = () => {
  throw new WorkerError('route_not_found', 'There is no such route');
};

/** Every failure before the first event has this one shape: `{"error": {code, message}}`. */
export function createErrorRenderer(logger: Logger): ErrorRequestHandler {
  return (error, request, response, _next) => {
    const failure = asBodyError(error) ?? asWorkerError(error);
    const wasForeseen = failure === error || failure.code !== 'internal_error';
    if (!wasForeseen) {
      logger.error({ msg: 'Failed to answer a request', path: request.path, err: error });
    }
    response.status(failure.status).json(failure);
  };
}

/** What express refuses while it reads a request carries a status of its own. */
function asBodyError(error: unknown): WorkerError | undefined {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  if (error instanceof WorkerError || typeof status !== 'number' || status >= 500) return undefined;
  return status === 413
    ? new WorkerError('body_too_large', 'The body is too large')
    : new WorkerError('invalid_request', 'The request cannot be read');
}
