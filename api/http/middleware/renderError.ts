import type { IncomingMessage } from 'node:http';
import type { ErrorRequestHandler } from 'express';
import type { Logger } from '../../../common/logger.ts';
import { ApiError, ClientLeftError, toApiError } from '../../contracts/errors.ts';
import { sendError } from '../../response/delivery.ts';
import { requestIdOf } from './everyRequest.ts';

/** What express refuses by itself: it marks it with a 4xx status. */
function describeRequestFault(thrown: unknown): ApiError | undefined {
  const status = (thrown as { status?: unknown } | null)?.status;
  if (typeof status !== 'number' || status < 400 || status >= 500) return undefined;
  return new ApiError('invalid_request', 'The request is malformed.', { cause: thrown });
}

function describe(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  return describeRequestFault(thrown) ?? toApiError(thrown);
}

/** The one place where an error becomes a response. */
export function renderError(options: { logger: Logger; publicUrl: string }): ErrorRequestHandler {
  const { logger, publicUrl } = options;
  return (thrown, request, response, _next) => {
    if (thrown instanceof ClientLeftError) return;
    const error = describe(thrown);
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
    // What is still to come of the body would be received for nothing.
    if (hasUnreadBody(request)) response.set('connection', 'close');
    sendError(response, error, publicUrl);
  };
}

function hasUnreadBody({ complete, headers }: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  return !complete && (encoding !== undefined || Number(length) > 0);
}
