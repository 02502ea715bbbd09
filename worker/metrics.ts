import { collectDefaultMetrics, Registry } from 'prom-client';
import { metricsOf } from '../common/metricsOf.ts';
import type { JobResult } from './jobs/execution.ts';
import type { WorkerErrorCode } from './protocol/errors.ts';

/** A job without a proof. */
interface JobFailure {
  at: string;
  job_id: string;
  model: string;
  code: WorkerErrorCode;
}

export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>;

const FAILURES_MAX = 20;
/** From a warm small model to the longest answer. */
const BUCKETS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 120];

/** The metrics of a worker, in Prometheus's form, and what its owner sees of them. */
export function createWorkerMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const { counter, gauge, observe, histogram } = metricsOf(registry);
  const ended = counter(
    'svc_worker_jobs_total',
    'Jobs that ended, by model and outcome: proved, or the code of the error',
    ['model', 'outcome'],
  );
  const refusals = counter(
    'svc_worker_errors_total',
    'Requests for jobs that were answered with an error status, by code',
    ['code'],
  );
  const tokens = counter(
    'svc_worker_tokens_total',
    'Proven tokens, by model and kind: prompt or completion',
    ['model', 'kind'],
  );
  const jobSeconds = histogram(
    'svc_worker_job_seconds',
    'From the request to the end of the answer',
    { labelNames: ['model'], buckets: BUCKETS_SECONDS },
  );
  const firstTextSeconds = histogram(
    'svc_worker_first_text_seconds',
    'From the request to the first text or reasoning',
    { labelNames: ['model'], buckets: BUCKETS_SECONDS },
  );
  const ready = gauge(
    'svc_worker_ready',
    '1 when the last health check found the worker ready, else 0',
  );
  const failures: JobFailure[] = [];
  let running = { inFlight: 0 };
  let jobsMax = 0;
  return {
    registry,
    /** For the owner: what runs, and the last jobs without a proof, newest first. */
    report: (): { in_flight: number; slots: number; failures: readonly JobFailure[] } => ({
      in_flight: running.inFlight,
      slots: jobsMax,
      failures,
    }),
    jobEnded({ jobId, model, outcome, seconds, ...result }: JobResult): void {
      ended.inc({ model, outcome });
      jobSeconds.observe({ model }, seconds);
      if (result.firstTextSeconds !== undefined)
        firstTextSeconds.observe({ model }, result.firstTextSeconds);
      if (result.proof) {
        tokens.inc({ model, kind: 'prompt' }, result.proof.prompt_tokens);
        tokens.inc({ model, kind: 'completion' }, result.proof.completion_tokens);
      }
      if (outcome === 'proved') return;
      failures.unshift({ at: new Date().toISOString(), job_id: jobId, model, code: outcome });
      failures.splice(FAILURES_MAX);
    },
    /** A request for a job was answered with an error status. */
    refused: (code: WorkerErrorCode): void => refusals.inc({ code }),
    /** @param code `ready`, or why the worker takes no jobs */
    healthChecked: (code: 'ready' | WorkerErrorCode): void => ready.set(code === 'ready' ? 1 : 0),
    /** Shows the jobs that run at the time of each reading. */
    watch(jobs: { readonly inFlight: number }, capacity: number): void {
      running = jobs;
      jobsMax = capacity;
      gauge('svc_worker_slots', 'The capacity: jobs at the same time').set(capacity);
      observe('svc_worker_jobs_in_flight', 'Jobs that run now', () => jobs.inFlight);
    },
  };
}
