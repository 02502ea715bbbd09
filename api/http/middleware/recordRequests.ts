import type { Tracer } from '@opentelemetry/api';
import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from '../../../common/logger.ts';
import type { ApiMetrics } from '../../telemetry/metrics.ts';
import { startRequestTrace } from '../../telemetry/tracing.ts';
import { errorCodeOf, wasAnswered } from '../response/response.ts';
import { requestIdOf } from './headers.ts';

/** Supervisors ask them every few seconds; what they find is news only while it is bad. */
const PROBES = new Set(['/health', '/ready']);

/**
 * Counts, traces and logs every request when its response has ended: what was asked for, how it was
 * answered, how long it took. The path is told as its route, and no text of the client's is, so
 * that nothing secret that was sent in the wrong place gets there.
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
        ...{ request_id: requestId, job_id: jobId, ...answered },
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

/** The job that the request made, or that its path names; what else stands there is not told. */
function jobIdOf({ path }: Request, response: Response): string | undefined {
  const made = response.get('x-svc-job-id');
  return made ?? /\/(job_[0-9a-f]{32})(?:\/|$)/.exec(path)?.[1];
}
