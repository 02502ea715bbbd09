import type { IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { ErrorRequestHandler, Response } from 'express';
import type { Logger } from '../../../common/logger.ts';
import { ApiError, ClientLeftError, errorBody, toApiError } from '../../contracts/errors.ts';
import { beginError, sendError } from '../../response/delivery.ts';
import { walletOf } from './everyRequest.ts';

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
      const request_id = response.locals.requestId;
      logger.error({
        msg: 'Answered with a server error',
        request_id,
        code: error.code,
        err: thrown,
      });
    }
    if (response.headersSent) return void response.destroy();
    if (hasUnreadBody(request)) {
      // What is still to come of the body would be received for nothing.
      response.set('connection', 'close');
      // A stranger's connection ends at once: it must not be held by who has no key.
      if (walletOf(response)) return void sendEarlyError(response, error, publicUrl);
    }
    sendError(response, error, publicUrl);
  };
}

function hasUnreadBody({ complete, headers }: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  return !complete && (encoding !== undefined || Number(length) > 0);
}

/** How much of a refused request's body is taken at most, and for how long. */
const REST_BYTES_MAX = 8 * 1_024 * 1_024;
const REST_MS_MAX = 10_000;
/** Between two chunks of all such bodies, so that many who send again at once are no load. */
const REST_CHUNK_MS = 2;
/** Whose rest is being taken. */
let refused = 0;

/**
 * Sends an error before the whole body of its request has come, and ends the connection. Closed with
 * bytes unread it would be reset, and the client would lose the answer. So the rest is taken first.
 */
async function sendEarlyError(
  response: Response,
  error: ApiError,
  publicUrl: string,
): Promise<void> {
  const body = Buffer.from(JSON.stringify(errorBody(error, publicUrl)));
  beginError(response, error)
    .set('content-type', 'application/json; charset=utf-8')
    .set('content-length', String(body.length))
    .write(body);
  response.locals.isWhole = true;
  refused += 1;
  // It fails once the client has left, which ends it as well.
  const rest = takeRest(response.req).catch(() => undefined);
  await Promise.race([rest, setTimeout(REST_MS_MAX, undefined, { ref: false })]);
  refused -= 1;
  response.end();
}

async function takeRest(request: IncomingMessage): Promise<void> {
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > REST_BYTES_MAX) return;
    await setTimeout(REST_CHUNK_MS * refused);
  }
}
