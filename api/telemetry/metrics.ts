import type { PublicKey } from '@solana/web3.js';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { toBase58 } from '../../programs/client/keys.ts';
import type { SendResult } from '../../programs/client/sender/sendResult.ts';
import type { JobTiming } from '../sql/jobs.ts';
import type { Observation } from '../sql/workers.ts';
import type { StageName, Stages } from './tracing.ts';

/** From the duration of a mirror read to that of the longest job. */
const STAGE_BUCKETS_SECONDS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120,
];

/** How a job ended, as far as this process knows: one `left_to_keeper` is ended by the keeper. */
export type JobMetricResult = 'settled' | 'failed' | 'refunded' | 'disputed' | 'left_to_keeper';

export interface ApiMetrics {
  readonly registry: Registry;
  requestStarted(): void;
  /** @param request.code the error's, or `none` */
  requestEnded(request: {
    method: string;
    route: string;
    status: string;
    code: string;
    seconds: number;
  }): void;
  stage(name: StageName, seconds: number): void;
  jobsInFlight(jobs: number): void;
  jobEnded(end: JobMetricResult): void;
  /** Counts a transaction that is sent. @returns to be called at its end */
  observeSend(lane: string): (outcome: SendResult['status'] | 'unknown') => void;
}

export function createMetrics(): ApiMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return {
    registry,
    ...requestMetrics([registry]),
    ...jobMetrics([registry]),
    ...transactionMetrics([registry]),
  };
}

function requestMetrics(
  registers: Registry[],
): Pick<ApiMetrics, 'requestStarted' | 'requestEnded' | 'stage'> {
  const requests = new Counter({
    name: 'svc_api_requests_total',
    help: 'Requests answered; a status of "left" means that the client left before its answer',
    labelNames: ['method', 'route', 'status', 'code'],
    registers,
  });
  const requestSeconds = new Histogram({
    name: 'svc_api_request_seconds',
    help: 'From the request to the end of its answer',
    labelNames: ['route'],
    buckets: STAGE_BUCKETS_SECONDS,
    registers,
  });
  const requestsInFlight = new Gauge({
    name: 'svc_api_requests_in_flight',
    help: 'Requests being answered',
    registers,
  });
  const stages = new Histogram({
    name: 'svc_api_stage_seconds',
    help: 'Stages of a completion: lock, worker (of it first_token), settle, mirror',
    labelNames: ['stage'],
    buckets: STAGE_BUCKETS_SECONDS,
    registers,
  });
  return {
    requestStarted: () => requestsInFlight.inc(),
    requestEnded({ seconds, ...labels }) {
      requestsInFlight.dec();
      requests.inc(labels);
      requestSeconds.observe({ route: labels.route }, seconds);
    },
    stage: (stage, seconds) => stages.observe({ stage }, seconds),
  };
}

function jobMetrics(registers: Registry[]): Pick<ApiMetrics, 'jobsInFlight' | 'jobEnded'> {
  const jobs = new Counter({
    name: 'svc_api_jobs_total',
    help: 'Jobs by how they ended',
    labelNames: ['end'],
    registers,
  });
  const jobsInFlight = new Gauge({
    name: 'svc_api_jobs_in_flight',
    help: 'Jobs locked by this process and not ended yet',
    registers,
  });
  return {
    jobsInFlight: (count) => jobsInFlight.set(count),
    jobEnded: (end) => jobs.inc({ end }),
  };
}

function transactionMetrics(registers: Registry[]): Pick<ApiMetrics, 'observeSend'> {
  const sending = new Gauge({
    name: 'svc_api_transactions_in_flight',
    help: 'Transactions waiting for their turn or for their confirmation',
    labelNames: ['lane'],
    registers,
  });
  const sends = new Histogram({
    name: 'svc_api_transaction_seconds',
    help: 'From the turn that a transaction waits for to its outcome',
    labelNames: ['lane', 'outcome'],
    buckets: STAGE_BUCKETS_SECONDS,
    registers,
  });
  return {
    observeSend(lane) {
      const stop = sends.startTimer({ lane });
      sending.inc({ lane });
      return (outcome) => {
        sending.dec({ lane });
        stop({ outcome });
      };
    },
  };
}

/** Records how long the stages of requests and jobs take. */
export function createJobObservers({
  metrics,
  timings,
  recordFirstToken,
}: {
  metrics: Pick<ApiMetrics, 'stage'>;
  timings: { add(timing: JobTiming): void };
  recordFirstToken: (observation: Observation) => void;
}) {
  return {
    observeStage(name: StageName, durationMs: number): void {
      metrics.stage(name, durationMs / 1_000);
    },
    observeJob({ job, wallet, durationsMs }: ObservedJob): void {
      timings.add({
        job: toBase58(job.address),
        wallet,
        modelId: job.model.id,
        lockMs: durationsMs.lock,
        firstTokenMs: durationsMs.first_token,
        workerMs: durationsMs.worker,
        settlementMs: durationsMs.settle,
      });
    },
    observeFirstToken(observation: Observation): void {
      metrics.stage('first_token', observation.firstTokenMs / 1_000);
      recordFirstToken(observation);
    },
  };
}

interface ObservedJob {
  job: { address: PublicKey; model: { id: string } };
  wallet: string;
  durationsMs: ReturnType<Stages['durationsMs']>;
}
