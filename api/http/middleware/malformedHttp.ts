import { isUtf8 } from 'node:buffer';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Request, RequestHandler } from 'express';
import express from 'express';
import { ApiError, errorBody } from '../contracts/errors.ts';
import type { LargeBodies } from '../largeBodies/largeBodies.ts';
import { createRequestId } from './everyRequest.ts';

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
    // Whoever opened a connection ahead and has sent nothing is owed nothing: an answer would be
    // taken for that of the request that he may be about to send.
    const isUnused = socket instanceof Socket && socket.bytesRead === 0;
    if (!socket.writable || isAwaited || isUnused) return void socket.destroy();
    socket.end(wholeAnswer(faults[error.code ?? ''] ?? 'The request is not valid HTTP.'));
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    // Node has let go of it: without this, a client that resets it would end the process.
    socket.on('error', () => socket.destroy());
    // Here, too, an answer would be taken for that to a request before.
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
    setUnreadableAside(request);
    next();
  };
}

/** What is wrong with a path, until somebody who may know it is told. */
const unreadable = new WeakMap<IncomingMessage, string>();

/**
 * Replaces the parts of the path that cannot be read, so that the request still finds its route: an
 * unknown one is a 404, and without a key it is a 401, whatever stands in the path.
 */
function setUnreadableAside(request: Request): void {
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
    // No id has it, and the database cannot be asked for it.
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

const BODY_BYTES_MAX = 4 * 1_024 * 1_024;
/** What is smaller is read in a millisecond or so, without a thread. */
const SMALL_BYTES_MAX = 64 * 1_024;
const rawBodies = new WeakMap<IncomingMessage, Uint8Array>();
const EMPTY = new Uint8Array();
/** As many clients spell it. */
const UTF8 = /(;\s*charset=)(?:utf8|"utf8")(?=\s*(?:;|$))/i;
const UTF8_NAMED = /;\s*charset=(?:utf-8|"utf-8")(?=\s*(?:;|$))/i;

/**
 * Any content type: some clients send none, and the body itself tells whether it is JSON. It must be
 * UTF-8, as JSON is: other bytes would be replaced silently, and another text answered than was sent.
 *
 * @param largeBodies reads what is above 64 KiB, as the body of a completion: the request's body is
 *   then a form that the contract reads again. Without it, larger bodies are refused
 */
export function parseJsonBody(largeBodies?: LargeBodies): RequestHandler {
  const bytesMax = largeBodies ? BODY_BYTES_MAX : SMALL_BYTES_MAX;
  const parse = express.json({
    limit: bytesMax,
    strict: false,
    type: () => true,
    verify: (request, _response, bytes, charset) => {
      if (charset !== 'utf-8') throw new BodyFault('charset.unsupported');
      if (!isUtf8(bytes)) throw new BodyFault('encoding.invalid');
      rawBodies.set(request, bytes);
      // Ends the parser's work before it parses.
      if (bytes.length > SMALL_BYTES_MAX) throw new LargeBody();
    },
  });
  return (request, response, next) => {
    const contentType = request.get('content-type');
    // The parser knows the charset by its proper name alone.
    if (contentType) request.headers['content-type'] = contentType.replace(UTF8, '$1utf-8');
    // The parser would read such a body to its end before it refused it.
    if (Number(request.get('content-length')) > bytesMax) throw tooLarge(bytesMax);
    if (largeBodies && isPlainAndLarge(request)) {
      receive(request)
        .then((chunks) => readLarge(largeBodies, chunks, request, response))
        .then((isRead) => isRead && next(), next);
      return;
    }
    parse(request, response, (error?: unknown) => {
      const type = (error as { type?: unknown } | undefined)?.type;
      if (type === 'entity.too.large') return next(tooLarge(bytesMax));
      if (!(error instanceof LargeBody) || !largeBodies) return next(error);
      const chunks = [rawBodyOf(request)];
      readLarge(largeBodies, chunks, request, response).then((isRead) => isRead && next(), next);
    });
  };
}

/** Whether it is large as it comes: neither compressed, nor in chunks, nor of another charset. */
function isPlainAndLarge({ headers }: Request): boolean {
  const { 'content-length': length, 'content-encoding': encoding } = headers;
  const isUtf8Alone = !/charset/i.test(headers['content-type']?.replace(UTF8_NAMED, '') ?? '');
  return Number(length) > SMALL_BYTES_MAX && encoding === undefined && isUtf8Alone;
}

/**
 * One chunk in each turn of the event loop: read as fast as it arrives, a body would hold up whatever
 * else has arrived.
 */
async function receive(request: Request): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of request) {
      chunks.push(chunk);
      await setImmediate();
    }
  } catch {
    throw new BodyFault('request.aborted');
  }
  return chunks;
}

/** @returns whether there is still somebody to be answered */
async function readLarge(
  largeBodies: LargeBodies,
  chunks: readonly Uint8Array[],
  request: Request,
  response: ServerResponse,
): Promise<boolean> {
  const body = await largeBodies.read(chunks, () => !response.destroyed);
  switch (body?.kind) {
    case undefined:
      return false;
    case 'not_utf8':
      throw new BodyFault('encoding.invalid');
    case 'not_json':
      throw new BodyFault('entity.parse.failed');
    case 'invalid': {
      const { message, param } = body;
      throw new ApiError('invalid_request', message, param === undefined ? {} : { param });
    }
    case 'request':
      rawBodies.set(request, body.bytes);
      request.body = body.request;
      return true;
  }
}

function tooLarge(bytesMax: number): ApiError {
  const size = bytesMax === BODY_BYTES_MAX ? '4 MiB' : '64 KiB';
  return new ApiError('invalid_request', `The body is larger than ${size}.`);
}

/** The body as it arrived, after decompression. */
export function rawBodyOf(request: IncomingMessage): Uint8Array {
  return rawBodies.get(request) ?? EMPTY;
}

/** By the `type` of what express's body parser throws, ours included. */
const bodyFaults: Record<string, string> = {
  'entity.parse.failed': 'The body is not valid JSON.',
  'request.size.invalid': 'The body does not have the length it announced.',
  'request.aborted': 'The body was not sent completely.',
  'encoding.unsupported': 'This content encoding is not supported.',
  'encoding.invalid': 'The body is not valid UTF-8.',
  'charset.unsupported': 'The charset of the body must be utf-8.',
};

class BodyFault extends Error {
  readonly type: keyof typeof bodyFaults;

  constructor(type: keyof typeof bodyFaults) {
    super(type);
    this.type = type;
  }
}

/** What the parser is stopped with before it parses a large body; nobody is told. */
class LargeBody extends Error {}

/** What a client is told of a body that could not be read; undefined for any other error. */
export function describeBodyFault(thrown: unknown): ApiError | undefined {
  const type = (thrown as { type?: unknown } | null)?.type;
  const message = typeof type === 'string' ? bodyFaults[type] : undefined;
  return message ? new ApiError('invalid_request', message, { cause: thrown }) : undefined;
}
