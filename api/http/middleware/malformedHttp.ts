import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Request, RequestHandler } from 'express';
import { ApiError, errorBody } from '../../contracts/errors.ts';
import { createRequestId } from './everyRequest.ts';

/** Messages by the code of Node's error. */
const faults: Record<string, string> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time.',
  HPE_HEADER_OVERFLOW: 'The headers are larger than 16 KiB.',
};

/**
 * Answers requests that Node refuses before any handler runs: with a 400 in the usual form, after which
 * the connection closes.
 */
export function refuseMalformed(server: Server | HttpsServer, publicUrl: string): void {
  /** The answers that a connection owed when its last request came, in order. */
  const begun = new WeakMap<Duplex, ServerResponse[]>();
  const owed = (socket: Duplex) => begun.get(socket)?.filter(isUnsent) ?? [];
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
  const wholeAnswer = (message: string) => {
    const { body, headers } = refusal(message);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    return `HTTP/1.1 400 ${STATUS_CODES[400]}\r\n${lines.join('')}\r\n${body}`;
  };

  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    begun.set(socket, [...owed(socket), response]);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // What is sent now would be taken for the answer to a request that has arrived, or for more of it.
    const [next] = owed(socket);
    const isAwaited = next && (next.headersSent || next.req.complete);
    // A connection that was opened ahead gets no answer. Its client would take it for the answer to
    // its next request.
    const isUnused = socket instanceof Socket && socket.bytesRead === 0;
    if (!socket.writable || isAwaited || isUnused) return void socket.destroy();
    socket.end(wholeAnswer(faults[error.code ?? ''] ?? 'The request is not valid HTTP.'));
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    // Node no longer listens to it: without this, a client's reset would end the process.
    socket.on('error', () => socket.destroy());
    // Here, too, the client would take it for the answer to an earlier request.
    if (owed(socket).length > 0) return void socket.destroy();
    socket.resume();
    const answer = wholeAnswer('CONNECT is not supported: this is no proxy.');
    socket.end(answer, () => socket.destroy());
  });
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { body, headers } = refusal('No expectation but 100-continue can be met.');
    response.writeHead(400, headers).end(body);
  });
}

function isUnsent(response: ServerResponse): boolean {
  return !response.writableFinished;
}

/** Refuses requests that Node accepts and later parts cannot handle. */
export function requireWellFormed(): RequestHandler {
  return (request, _response, next) => {
    const hosts = request.headersDistinct.host?.length ?? 0;
    const mayLackHost = request.httpVersion === '1.0';
    if (hosts > 1 || (hosts === 0 && !mayLackHost)) {
      throw new ApiError('invalid_request', 'The request must have one Host header.', {
        param: 'Host',
      });
    }
    replaceUnreadable(request);
    next();
  };
}

/** What is wrong with a path, for the error that an admitted client gets. */
const unreadable = new WeakMap<IncomingMessage, string>();

/**
 * Replaces the unreadable parts of the path, so that the request still finds its route. An unknown
 * route is then a 404, and a request without a key a 401.
 */
function replaceUnreadable(request: Request): void {
  const [path = '', ...query] = request.url.split('?');
  const parts = path.split('/');
  const faults = parts.map(faultOfPart);
  const fault = faults.find((found) => found !== undefined);
  if (fault === undefined) return;
  unreadable.set(request, fault);
  const readable = parts.map((part, place) => (faults[place] === undefined ? part : '-'));
  request.url = [readable.join('/'), ...query].join('?');
}

function faultOfPart(part: string): string | undefined {
  if (!part.includes('%')) return undefined;
  try {
    // No id contains it, and PostgreSQL refuses it in a text.
    return decodeURIComponent(part).includes('\0') ? 'The path must not contain NUL.' : undefined;
  } catch {
    return 'The path is malformed: it is not percent-encoded UTF-8.';
  }
}

/** @throws ApiError when a part of the path that the request came with could not be read */
export function requireReadablePath(request: IncomingMessage): void {
  const fault = unreadable.get(request);
  if (fault !== undefined) throw new ApiError('invalid_request', fault);
}
