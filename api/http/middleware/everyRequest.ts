import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Tracer } from '@opentelemetry/api';
import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from '../../../common/logger.ts';
import { ApiError, errorBody } from '../../contracts/errors.ts';
import { responseHeaders } from '../../contracts/values.ts';
import { wasAnswered } from '../../response/delivery.ts';
import type { ApiMetrics } from '../../telemetry/metrics.ts';
import { startRequestTrace } from '../../telemetry/tracing.ts';

function createRequestId(): string {
  return `req_${randomUUID().replaceAll('-', '')}`;
}

/** The server's address, which only requests through a proxy have, then path and query. */
const TARGET = /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)?([^?#]*)(.*)$/is;

/**
 * Reads doubled slashes of a path as one: clients whose base URL ends with a slash send them. It runs
 * before everything that reads the path, so that limits, guards and logs see one route. It does not
 * redirect, since an address of the client's making would be an open redirect.
 */
export function collapseSlashes(): RequestHandler {
  return (request, _response, next) => {
    const [, root = '', path = '', query = ''] = TARGET.exec(request.url) ?? [];
    if (path.includes('//')) request.url = `${root}${path.replace(/\/{2,}/g, '/')}${query}`;
    next();
  };
}

/** Gives every request an id, in its response and in our logs. An id of the client's is ignored. */
export function nameRequest(): RequestHandler {
  return (_request, response, next) => {
    const id = createRequestId();
    response.locals.requestId = id;
    response.set('x-request-id', id);
    next();
  };
}

/** Two years from each visit. */
const HSTS = 'max-age=63072000';

/**
 * Headers that keep a browser from doing more with an answer than show it. Pages widen the content
 * policy by what they need.
 *
 * @param options.isHttps whether clients reach the service by HTTPS, ours or a proxy's
 * @param options.bindsSubdomains whether HTTPS is demanded of other services' hosts below this one
 */
export function setSecurityHeaders({
  isHttps,
  bindsSubdomains,
}: {
  isHttps: boolean;
  bindsSubdomains: boolean;
}): RequestHandler {
  const hsts = bindsSubdomains ? `${HSTS}; includeSubDomains` : HSTS;
  const headers = {
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    ...(isHttps && { 'strict-transport-security': hsts }),
  };
  return (_request, response, next) => {
    response.set(headers);
    next();
  };
}

const EXPOSED = Object.keys(responseHeaders).join(', ');
const METHODS = 'GET, POST, DELETE';
/** Browsers keep a preflight's answer no longer. */
const PREFLIGHT_MAX_AGE_SECONDS = 7_200;

/**
 * Lets pages of these origins call the API. Pages of others cannot read its answers. The API has no
 * cookies, so no credentials are allowed. The web app's API has one, and is for its own pages alone.
 *
 * A preflight carries no key and ends here, before any check.
 *
 * @param origins in the form of browsers, such as `https://console.example.com`
 */
export function allowOrigins(origins: readonly string[]): RequestHandler {
  const allowed = new Set(origins);
  return (request, response, next) => {
    if (request.path.startsWith('/console/')) return next();
    response.vary('Origin');
    const origin = request.get('origin');
    if (origin === undefined || !allowed.has(origin)) return next();
    response.set({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': EXPOSED,
    });
    const isPreflight =
      request.method === 'OPTIONS' && request.get('access-control-request-method') !== undefined;
    if (!isPreflight) return next();
    response.set({
      'access-control-allow-methods': METHODS,
      // Any header may be sent: the API checks those that it uses.
      'access-control-allow-headers': request.get('access-control-request-headers') ?? '',
      'access-control-max-age': String(PREFLIGHT_MAX_AGE_SECONDS),
    });
    response.status(204).end();
  };
}

/** Asked every few seconds. A good answer is logged at debug level only. */
const PROBES = new Set(['/health', '/ready']);

/**
 * Counts, traces and logs every request when its response has ended: its route, its answer and its
 * duration. Route instead of path, and no text of the client's: it may have sent a secret there.
 */
export function recordRequests(options: {
  logger: Logger;
  metrics: ApiMetrics;
  tracer: Tracer;
}): RequestHandler {
  const { logger, metrics, tracer } = options;
  return (request, response, next) => {
    const startedMs = performance.now();
    const trace = startRequestTrace(tracer);
    response.locals.trace = trace;
    metrics.requestStarted();
    response.once('close', () => {
      const durationMs = performance.now() - startedMs;
      const { method } = request;
      const route = routeOf(request);
      const status = wasAnswered(response) ? String(response.statusCode) : 'left';
      const { errorCode: code = 'none', requestId } = response.locals;
      const jobId = jobIdOf(request, response);
      const answered = { method, route, status, code };
      metrics.requestEnded({ ...answered, seconds: durationMs / 1_000 });
      trace.end({ ...answered, requestId, jobId });
      const level = PROBES.has(route) && status === '200' ? 'debug' : 'info';
      logger[level]({
        msg: 'Answered a request',
        request_id: requestId,
        job_id: jobId,
        wallet: walletOf(response),
        ...answered,
        ...describeJob(response),
        duration_ms: Math.round(durationMs),
      });
    });
    next();
  };
}

/** The wallet whose key or session was admitted; undefined before that. */
export function walletOf({ locals }: Response): string | undefined {
  return locals.key?.wallet ?? locals.session?.wallet;
}

/** What a completion became: its model, its worker, and the milliseconds of each stage. */
function describeJob(response: Response): Record<string, unknown> | undefined {
  const { job } = response.locals;
  if (!job) return undefined;
  const { lock, worker, settle, mirror } = job.stages.durationsMs();
  return {
    model: job.modelId,
    worker: response.get('x-svc-worker'),
    lock_ms: lock,
    worker_ms: worker,
    settle_ms: settle,
    mirror_ms: mirror,
  };
}

/** The route as the app declares it, so that metrics have one label for each route. */
function routeOf(request: Request): string {
  return request.route?.path ?? 'none';
}

/** The job that the request made, or that its path names; undefined for any other text there. */
function jobIdOf({ path }: Request, response: Response): string | undefined {
  const made = response.get('x-svc-job-id');
  return made ?? /\/(job_[0-9a-f]{32})(?:\/|$)/.exec(path)?.[1];
}

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
