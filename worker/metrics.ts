import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { JobResult } from './jobs/execution.ts';
import type { WorkerErrorCode } from './protocol/errors.ts';

/** A job without a proof. */
interface JobFailure {
  at: string;
  job_id: string;
  model: string;
  code: WorkerErrorCode;
}

export interface WorkerMetrics {
  readonly registry: Registry;
  /** For the owner: what runs, and the last jobs without a proof, newest first. */
  report(): { in_flight: number; slots: number; failures: readonly JobFailure[] };
  jobEnded(result: JobResult): void;
  /** A request for a job was answered with an error status. */
  refused(code: WorkerErrorCode): void;
  /** @param code `ready`, or why the worker takes no jobs */
  healthChecked(code: 'ready' | WorkerErrorCode): void;
  /** Shows the jobs that run at the time of each reading. */
  watch(jobs: { readonly inFlight: number }, capacity: number): void;
}

const FAILURES_MAX = 20;
/** From a warm small model to the longest answer. */
const BUCKETS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 120];

export function createWorkerMetrics(): WorkerMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const { ended, refusals, tokens, jobSeconds, firstTextSeconds, ready } = createMeters(registry);
  const failures: JobFailure[] = [];
  let running = { inFlight: 0 };
  let jobsMax = 0;

  return {
    registry,
    report: () => ({ in_flight: running.inFlight, slots: jobsMax, failures }),
    jobEnded({ jobId, model, outcome, seconds, ...result }) {
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
    refused: (code) => refusals.inc({ code }),
    healthChecked: (code) => ready.set(code === 'ready' ? 1 : 0),
    watch(jobs, capacity) {
      running = jobs;
      jobsMax = capacity;
      const registers = [registry];
      new Gauge({
        name: 'svc_worker_slots',
        help: 'The capacity: jobs at the same time',
        registers,
      }).set(capacity);
      new Gauge({
        name: 'svc_worker_jobs_in_flight',
        help: 'Jobs that run now',
        registers,
        collect() {
          this.set(jobs.inFlight);
        },
      });
    },
  };
}

function createMeters(registry: Registry) {
  const registers = [registry];
  return {
    ended: new Counter({
      name: 'svc_worker_jobs_total',
      help: 'Jobs that ended, by model and outcome: proved, or the code of the error',
      labelNames: ['model', 'outcome'],
      registers,
    }),
    refusals: new Counter({
      name: 'svc_worker_errors_total',
      help: 'Requests for jobs that were answered with an error status, by code',
      labelNames: ['code'],
      registers,
    }),
    tokens: new Counter({
      name: 'svc_worker_tokens_total',
      help: 'Proven tokens, by model and kind: prompt or completion',
      labelNames: ['model', 'kind'],
      registers,
    }),
    jobSeconds: new Histogram({
      name: 'svc_worker_job_seconds',
      help: 'From the request to the end of the answer',
      labelNames: ['model'],
      buckets: BUCKETS_SECONDS,
      registers,
    }),
    firstTextSeconds: new Histogram({
      name: 'svc_worker_first_text_seconds',
      help: 'From the request to the first text or reasoning',
      labelNames: ['model'],
      buckets: BUCKETS_SECONDS,
      registers,
    }),
    ready: new Gauge({
      name: 'svc_worker_ready',
      help: '1 when the last health check found the worker ready, else 0',
      registers,
    }),
  };
}
