import { collectDefaultMetrics, Registry } from 'prom-client';
import { type Metrics, metricsOf } from '../../common/metricsOf.ts';
import type { SendResult } from '../../programs/client/sender/sendResult.ts';
import type { StageName } from './tracing.ts';

/** From the duration of a mirror read to that of the longest job. */
const STAGE_BUCKETS_SECONDS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120,
];

/** How a job ended, as far as this process knows: one `left_to_keeper` is ended by the keeper. */
export type JobMetricResult = 'settled' | 'failed' | 'refunded' | 'disputed' | 'left_to_keeper';

export type ApiMetrics = ReturnType<typeof createMetrics>;

/** The metrics of an API process, in Prometheus's form. */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const metrics = metricsOf(registry);
  return {
    registry,
    ...requestMetrics(metrics),
    ...jobMetrics(metrics),
    ...transactionMetrics(metrics),
  };
}

function requestMetrics({ counter, gauge, histogram }: Metrics) {
  const requests = counter(
    'svc_api_requests_total',
    'Requests answered; a status of "left" means that the client left before its answer',
    ['method', 'route', 'status', 'code'],
  );
  const requestSeconds = histogram(
    'svc_api_request_seconds',
    'From the request to the end of its answer',
    { labelNames: ['route'], buckets: STAGE_BUCKETS_SECONDS },
  );
  const requestsInFlight = gauge('svc_api_requests_in_flight', 'Requests being answered');
  const stages = histogram(
    'svc_api_stage_seconds',
    'Stages of a completion: lock, worker (of it first_token), settle, mirror',
    { labelNames: ['stage'], buckets: STAGE_BUCKETS_SECONDS },
  );
  return {
    requestStarted: (): void => requestsInFlight.inc(),
    /** @param request.code the error's, or `none` */
    requestEnded(
      request: Record<'method' | 'route' | 'status' | 'code', string> & { seconds: number },
    ): void {
      const { seconds, ...labels } = request;
      requestsInFlight.dec();
      requests.inc(labels);
      requestSeconds.observe({ route: labels.route }, seconds);
    },
    stage: (stage: StageName, seconds: number): void => stages.observe({ stage }, seconds),
  };
}

function jobMetrics({ counter, gauge }: Metrics) {
  const jobs = counter('svc_api_jobs_total', 'Jobs by how they ended', ['end']);
  const jobsInFlight = gauge(
    'svc_api_jobs_in_flight',
    'Jobs locked by this process and not ended yet',
  );
  return {
    jobsInFlight: (count: number): void => jobsInFlight.set(count),
    jobEnded: (end: JobMetricResult): void => jobs.inc({ end }),
  };
}

function transactionMetrics({ gauge, histogram }: Metrics) {
  const sending = gauge(
    'svc_api_transactions_in_flight',
    'Transactions waiting for their turn or for their confirmation',
    ['lane'],
  );
  const sends = histogram(
    'svc_api_transaction_seconds',
    'From the turn that a transaction waits for to its outcome',
    { labelNames: ['lane', 'outcome'], buckets: STAGE_BUCKETS_SECONDS },
  );
  return {
    /** Counts a transaction that is sent. @returns to be called at its end */
    observeSend(lane: string): (outcome: SendResult['status'] | 'unknown') => void {
      const stop = sends.startTimer({ lane });
      sending.inc({ lane });
      return (outcome) => {
        sending.dec({ lane });
        stop({ outcome });
      };
    },
  };
}
