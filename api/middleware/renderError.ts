import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { Logger } from '../../runtime/logger.ts';
import { ApiError, errorBody, toApiError } from '../errors.ts';
import { sendError } from '../sendError.ts';
import { requestIdOf } from './requestId.ts';

/** What express's own body parser throws, by its `type`; every one is the client's mistake. */
const bodyFaults: Record<string, string> = {
  'entity.parse.failed': 'The body is not valid JSON.',
  'entity.too.large': 'The body is larger than 4 MiB.',
  'request.size.invalid': 'The body does not have the length it announced.',
  'request.aborted': 'The body was not sent completely.',
  'encoding.unsupported': 'This content encoding is not supported.',
  'charset.unsupported': 'The body must be UTF-8.',
};

function bodyFault(thrown: unknown): ApiError | undefined {
  if (thrown instanceof ApiError) return undefined;
  const type = (thrown as { type?: unknown } | null)?.type;
  const message = typeof type === 'string' ? bodyFaults[type] : undefined;
  if (message) return new ApiError('invalid_request', message, { cause: thrown });
  // Malformed percent-encoding in the path and the like: express marks them with a 4xx status.
  const status = (thrown as { status?: unknown } | null)?.status;
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new ApiError('invalid_request', 'The request is malformed.', { cause: thrown });
  }
  return undefined;
}

/** The one place where an error becomes a response. */
export function renderError(options: { logger: Logger; publicUrl: string }): ErrorRequestHandler {
  const { logger, publicUrl } = options;
  return (thrown, _request, response, _next) => {
    const error = bodyFault(thrown) ?? toApiError(thrown);
    if (error.status >= 500) {
      const request_id = requestIdOf(response);
      logger.error({
        msg: 'Answered with a server error',
        request_id,
        code: error.code,
        err: thrown,
      });
    }
    if (response.headersSent) return void response.destroy();
    sendError(response, error, publicUrl);
  };
}

export function routeNotFound(): RequestHandler {
  return (request) => {
    throw new ApiError('route_not_found', `There is no ${request.method} ${request.path}.`);
  };
}

/**
 * Answers what Node's own parser refuses before any handler runs: a 400 in the usual shape, on the
 * bare socket, which then closes.
 */
export function refuseMalformed(publicUrl: string): (error: Error, socket: Duplex) => void {
  return (_error, socket) => {
    if (!socket.writable) return;
    const body = JSON.stringify(
      errorBody(new ApiError('invalid_request', 'The request is not valid HTTP.'), publicUrl),
    );
    socket.end(
      `HTTP/1.1 400 ${STATUS_CODES[400]}\r\ncontent-type: application/json; charset=utf-8\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    );
  };
}
