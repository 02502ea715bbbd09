import { randomUUID } from 'node:crypto';
import type { RequestHandler, Response } from 'express';

export function createRequestId(): string {
  return `req_${randomUUID().replaceAll('-', '')}`;
}

/** Names every request, in its response and in our logs; a name the client chose is not used. */
export function nameRequest(): RequestHandler {
  return (_request, response, next) => {
    const id = createRequestId();
    response.locals.requestId = id;
    response.set('x-request-id', id);
    next();
  };
}

export function requestIdOf(response: Response): string {
  return response.locals.requestId as string;
}
