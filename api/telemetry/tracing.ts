import {
  type DiagLogger,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { Logger } from '../../common/logger.ts';

const SERVICE = 'svc-api';
const ignore = () => undefined;
const noLogger: DiagLogger = {
  error: ignore,
  warn: ignore,
  info: ignore,
  debug: ignore,
  verbose: ignore,
};
/** A collector that is away must not delay the end of the process. */
const EXPORT_TIMEOUT_MS = 5_000;

/**
 * Spans to a collector over OTLP's HTTP form, or to nowhere, at next to no cost, without one. `close`
 * sends what is left, within a bound.
 *
 * @param options.collectorUrl the root of the collector; traces go to `/v1/traces` below it
 * @param options.ratio how many of all requests are traced, from 0 to 1
 * @param options.exportTimeoutMs how long it tries to deliver them
 */
export async function createTracing(options: {
  collectorUrl: string | undefined;
  ratio: number;
  logger: Logger;
  exportTimeoutMs?: number;
}): Promise<{ tracer: Tracer; close(): Promise<void> }> {
  const { collectorUrl, ratio, logger, exportTimeoutMs = EXPORT_TIMEOUT_MS } = options;
  if (collectorUrl === undefined) {
    return { tracer: trace.getTracer(SERVICE), close: async () => undefined };
  }
  // Undelivered spans are logged and dropped, since no request waits for them.
  const warn = (reason: string) => logger.warn({ msg: 'Failed to deliver traces', reason });
  diag.setLogger({ ...noLogger, error: warn, warn }, DiagLogLevel.WARN);
  // Loaded only where it is used, since that takes a third of the start.
  const [sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  const exporter = new OTLPTraceExporter({
    url: `${collectorUrl}/v1/traces`,
    timeoutMillis: exportTimeoutMs,
  });
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({ 'service.name': SERVICE }),
    sampler: new sdk.TraceIdRatioBasedSampler(ratio),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
  });
  return {
    tracer: provider.getTracer(SERVICE),
    close: () => provider.shutdown().catch(({ message }: Error) => warn(message)),
  };
}

export type RequestTrace = ReturnType<typeof startRequestTrace>;

/**
 * The trace of one request: a span, with a child for each stage. Each trace begins here. A parent that
 * a client sends would let it choose what we record.
 */
export function startRequestTrace(tracer: Tracer) {
  const options = { kind: SpanKind.SERVER, startTime: epochMs(performance.now()) };
  const span = tracer.startSpan('request', options, ROOT_CONTEXT);
  const below = trace.setSpan(ROOT_CONTEXT, span);
  return {
    /** @param startMs, endMs of `performance.now()` */
    stage(name: string, startMs: number, endMs: number): void {
      tracer.startSpan(name, { startTime: epochMs(startMs) }, below).end(epochMs(endMs));
    },
    end(answer: {
      method: string;
      route: string;
      status: string;
      code: string;
      requestId: string;
      jobId: string | undefined;
    }): void {
      const { method, route, status, code, requestId, jobId } = answer;
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

/** One clock for all spans: left to itself, each would relate it to the time of day by itself. */
function epochMs(ms: number): number {
  return performance.timeOrigin + ms;
}

/** The status is `left` where the client left before its answer. */
function describeEnd(span: Span, status: string, code: string): void {
  if (status !== 'left') span.setAttribute('http.response.status_code', Number(status));
  if (code !== 'none') span.setAttribute('error.type', code);
  if (status.startsWith('5')) span.setStatus({ code: SpanStatusCode.ERROR });
}

export type StageName = 'lock' | 'first_token' | 'worker' | 'settle' | 'mirror';

export type Stages = ReturnType<typeof createStages>;

/** @param onStage called with each stage as it ends, in milliseconds of `performance.now()` */
export function createStages(onStage: (name: StageName, startMs: number, endMs: number) => void) {
  const durations = new Map<StageName, number>();
  let startMs = performance.now();
  return {
    /** Ends the running stage, under this name. */
    mark(name: StageName): void {
      const endMs = performance.now();
      durations.set(name, endMs - startMs);
      onStage(name, startMs, endMs);
      startMs = endMs;
    },
    /** Records a moment within the running stage, which goes on. Of several, the last counts. */
    note(name: StageName): void {
      durations.set(name, performance.now() - startMs);
    },
    /** The durations of ended stages, in whole milliseconds. */
    durationsMs: (): Partial<Record<StageName, number>> =>
      Object.fromEntries([...durations].map(([name, ms]) => [name, Math.round(ms)])),
    /** `lock;dur=21.4, worker;dur=3.0, …`, in milliseconds. */
    header: (): string =>
      [...durations].map(([name, ms]) => `${name};dur=${ms.toFixed(1)}`).join(', '),
  };
}
