import type { ErrorRequestHandler, RequestHandler } from 'express';

/**
 * Makes up for a check that a request went past, before the request's own error is told: where the
 * check refuses the request, that is what it is told.
 */
export function beforeErrors(check: RequestHandler): ErrorRequestHandler {
  return (error, request, response, next) =>
    check(request, response, (refusal) => next(refusal ?? error));
}
