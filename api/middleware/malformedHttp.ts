import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { RequestHandler } from 'express';
import { ApiError, errorBody } from '../errors.ts';
import { createRequestId } from './requestId.ts';

/** By the code of Node's error. */
const faults: Record<string, string> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time.',
  HPE_HEADER_OVERFLOW: 'The headers are larger than 16 KiB.',
};

/**
 * Answers in the usual shape what Node would refuse by itself, before any handler runs: with a 400,
 * after which the connection closes.
 */
export function refuseMalformed(server: Server | HttpsServer, publicUrl: string): void {
  const begun = new WeakMap<Duplex, ServerResponse>();
  const refusal = (message: string) => {
    const body = JSON.stringify(errorBody(new ApiError('invalid_request', message), publicUrl));
    const headers = {
      'x-request-id': createRequestId(),
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    };
    return { body, headers };
  };

  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    begun.set(socket, response);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const answer = begun.get(socket);
    const isInAnswer = answer?.headersSent && !answer.writableFinished;
    if (!socket.writable || isInAnswer) return void socket.destroy();
    const { body, headers } = refusal(faults[error.code ?? ''] ?? 'The request is not valid HTTP.');
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 400 ${STATUS_CODES[400]}\r\n${lines.join('')}\r\n${body}`);
  });
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { body, headers } = refusal('No expectation but 100-continue can be met.');
    response.writeHead(400, headers).end(body);
  });
}

/** Refuses what Node takes for a request and what no part behind it could take. */
export function requireWellFormed(): RequestHandler {
  return (request, _response, next) => {
    const hosts = request.headersDistinct.host?.length ?? 0;
    const mayLackHost = request.httpVersion === '1.0';
    if (hosts > 1 || (hosts === 0 && !mayLackHost)) {
      throw new ApiError('invalid_request', 'The request must have one Host header.', {
        param: 'Host',
      });
    }
    // No id has it, and the database cannot be asked for it.
    if (request.path.includes('%00')) {
      throw new ApiError('invalid_request', 'The path must not contain NUL.');
    }
    next();
  };
}
