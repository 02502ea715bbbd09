import { type DiagLogger, DiagLogLevel, diag, type Tracer, trace } from '@opentelemetry/api';
import type { Logger } from '../../runtime/logger.ts';

/** Where the spans of requests go. */
export interface Tracing {
  tracer: Tracer;
  /** Sends what is left, within a bound. */
  close(): Promise<void>;
}

const SERVICE = 'svc-api';
const ignore = () => undefined;
const noLogger: DiagLogger = {
  ...{ error: ignore, warn: ignore, info: ignore, debug: ignore, verbose: ignore },
};
/** A collector that is away must not hold up a process that ends. */
const EXPORT_TIMEOUT_MS = 5_000;

/**
 * Spans to a collector over OTLP's HTTP form, or to nowhere, at next to no cost, without one.
 *
 * @param options.collectorUrl the root of the collector; traces go to `/v1/traces` below it
 * @param options.ratio how many of all requests are traced, from 0 to 1
 */
export async function createTracing(options: {
  collectorUrl: string | undefined;
  ratio: number;
  logger: Logger;
}): Promise<Tracing> {
  const { collectorUrl, ratio, logger } = options;
  if (collectorUrl === undefined) {
    return { tracer: trace.getTracer(SERVICE), close: async () => undefined };
  }
  // Spans that could not be delivered are told of, and dropped: no request waits for them.
  const warn = (reason: string) => logger.warn({ msg: 'Failed to deliver traces', reason });
  diag.setLogger({ ...noLogger, error: warn, warn }, DiagLogLevel.WARN);
  // Loaded only where it is used: it takes as long as half of the rest of the start.
  const [sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  const exporter = new OTLPTraceExporter({
    url: `${collectorUrl}/v1/traces`,
    timeoutMillis: EXPORT_TIMEOUT_MS,
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
