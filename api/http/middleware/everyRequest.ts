import { randomUUID } from 'node:crypto';
import type { Tracer } from '@opentelemetry/api';
import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from '../../../common/logger.ts';
import { responseHeaders } from '../../contracts/values.ts';
import { errorCodeOf, recordedJobOf, wasAnswered } from '../../response/delivery.ts';
import type { ApiMetrics } from '../../telemetry/metrics.ts';
import { startRequestTrace } from '../../telemetry/tracing.ts';

export function createRequestId(): string {
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

export function requestIdOf(response: Response): string {
  return response.locals.requestId as string;
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
      const code = errorCodeOf(response) ?? 'none';
      const requestId = requestIdOf(response);
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
  const job = recordedJobOf(response);
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
