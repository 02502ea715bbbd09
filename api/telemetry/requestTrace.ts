import {
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';

/** One request as its trace shows it: a span, and one below it for each stage. */
export interface RequestTrace {
  /** @param startMs, endMs of `performance.now()` */
  stage(name: string, startMs: number, endMs: number): void;
  end(answer: {
    method: string;
    route: string;
    status: string;
    code: string;
    requestId: string;
    jobId: string | undefined;
  }): void;
}

/**
 * Each trace begins here: what a stranger sends as its parent would let him choose what we record.
 */
export function startRequestTrace(tracer: Tracer): RequestTrace {
  const options = { kind: SpanKind.SERVER, startTime: epochMs(performance.now()) };
  const span = tracer.startSpan('request', options, ROOT_CONTEXT);
  const below = trace.setSpan(ROOT_CONTEXT, span);
  return {
    stage(name, startMs, endMs) {
      tracer.startSpan(name, { startTime: epochMs(startMs) }, below).end(epochMs(endMs));
    },
    end({ method, route, status, code, requestId, jobId }) {
      span.updateName(`${method} ${route}`);
      span.setAttributes({
        'http.request.method': method,
        'http.route': route,
        'svc.request_id': requestId,
        ...(jobId && { 'svc.job_id': jobId }),
      });
      describeEnd(span, status, code);
      span.end(epochMs(performance.now()));
    },
  };
}

/** One clock for all spans: left to itself, each would relate it to the day's time anew. */
function epochMs(ms: number): number {
  return performance.timeOrigin + ms;
}

/** A status of `left` is a client's that went before its answer. */
function describeEnd(span: Span, status: string, code: string): void {
  if (status !== 'left') span.setAttribute('http.response.status_code', Number(status));
  if (code !== 'none') span.setAttribute('error.type', code);
  if (status.startsWith('5')) span.setStatus({ code: SpanStatusCode.ERROR });
}
