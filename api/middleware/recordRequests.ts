import type { Request, RequestHandler } from 'express';
import type { Logger } from '../../runtime/logger.ts';
import { errorCodeOf } from '../sendError.ts';
import type { ApiMetrics } from '../telemetry/metrics.ts';
import { requestIdOf } from './requestId.ts';

/**
 * Counts every request and logs it when its response has ended: what was asked for, how it was
 * answered, how long it took. The path is logged as its route, and no text of the client's is, so
 * that nothing secret that was sent in the wrong place gets there.
 */
export function recordRequests(options: { logger: Logger; metrics: ApiMetrics }): RequestHandler {
  const { logger, metrics } = options;
  return (request, response, next) => {
    const startedMs = performance.now();
    metrics.requestStarted();
    response.once('close', () => {
      const durationMs = performance.now() - startedMs;
      const { method } = request;
      const route = routeOf(request);
      const status = response.writableFinished ? String(response.statusCode) : 'left';
      const code = errorCodeOf(response) ?? 'none';
      metrics.requestEnded({ method, route, status, code, seconds: durationMs / 1_000 });
      logger.info({
        msg: 'Answered a request',
        request_id: requestIdOf(response),
        job_id: response.getHeader('x-svc-job-id') ?? jobIdOf(request),
        ...{ method, route, status, code },
        duration_ms: Math.round(durationMs),
      });
    });
    next();
  };
}

/** As the app declares it, so that there are as many as there are routes. */
function routeOf(request: Request): string {
  return request.route?.path ?? 'none';
}

/** The job that the path names; whatever else stands in its place is not logged. */
function jobIdOf({ path }: Request): string | undefined {
  return /\/(job_[0-9a-f]{32})(?:\/|$)/.exec(path)?.[1];
}
