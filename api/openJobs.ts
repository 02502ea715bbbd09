import type { Logger } from '../common/logger.ts';
import { createWriteBuffer } from '../common/postgres.ts';
import type { Shutdown } from '../common/shutdown.ts';
import type { Time } from '../common/wait.ts';
import { toBase58 } from '../programs/client/keys.ts';
import type { KeyHolder } from '../programs/client/proof.ts';
import type { Catalog } from './jobs/catalog.ts';
import { createCompletions } from './jobs/completion.ts';
import { createDisputes } from './jobs/dispute.ts';
import { createIdempotency } from './jobs/idempotency.ts';
import type { JobWatch } from './jobs/jobWatch.ts';
import { createReceiptSigner } from './jobs/settlement.ts';
import { createDisputeOnLedger } from './ledger/disputeOnLedger.ts';
import { createEscrow, observeEscrow } from './ledger/escrow.ts';
import { createOrphanEnd, createStatusLookup, createUnmirroredJobs } from './ledger/jobLookup.ts';
import type { Resources } from './resources.ts';
import { insertTimings, type JobTiming, selectJob } from './sql/jobs.ts';
import type { Observation } from './sql/workers.ts';
import type { ApiMetrics } from './telemetry/metrics.ts';
import type { WorkerDirectory } from './workers/directory.ts';

/** What requests do with jobs: complete, find and dispute them. It wires the request path of a job. Its leases and timings are closed by `shutdown`. */
export async function openJobs(options: {
  resources: Resources;
  catalog: Catalog;
  watch: JobWatch;
  directory: WorkerDirectory;
  recordFirstToken: (observation: Observation) => void;
  metrics: ApiMetrics;
  signer: KeyHolder;
  publicUrl: string;
  shutdown: Shutdown;
  logger: Logger;
  time: Time;
}) {
  const { resources, catalog, watch, directory, metrics, shutdown, logger } = options;
  const { pool, requestPool, ledger } = resources;
  const { clock } = ledger;
  const { escrow, observeLock } = observeEscrow(createEscrow(ledger), metrics);
  const idempotency = createIdempotency({
    database: requestPool,
    findStatus: createStatusLookup({ database: pool, context: ledger }),
    failOrphan: createOrphanEnd(ledger),
    nowMs: clock.nowMs,
    logger,
  });
  shutdown.add('leases', idempotency.close);
  const timings = await shutdown.open(
    'timings',
    createWriteBuffer<JobTiming>({
      write: (written) => insertTimings(pool, written),
      what: 'timings of jobs',
      logger,
    }),
  );
  const { programId } = ledger.addresses;
  const completions = createCompletions({
    idempotency,
    findJob: (key) => selectJob(pool, key),
    catalog,
    directory,
    escrow,
    tokens: resources.tokens,
    formats: resources.formats,
    workers: resources.workers,
    watch,
    clock,
    time: options.time,
    logger,
    programId,
    publicUrl: options.publicUrl,
    nowSeconds: clock.nowSeconds,
    observeLock,
    signReceipt: createReceiptSigner(programId, options.signer),
    observeStage: (name, durationMs) => metrics.stage(name, durationMs / 1_000),
    observeJob({ job, wallet, durationsMs }) {
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
    observeFirstToken(observation) {
      metrics.stage('first_token', observation.firstTokenMs / 1_000);
      options.recordFirstToken(observation);
    },
  });
  const unmirrored = createUnmirroredJobs(ledger, catalog.list);
  const disputeOnLedger = createDisputeOnLedger(ledger);
  const disputes = createDisputes({ database: pool, unmirrored, watch, ledger: disputeOnLedger });
  return { completions, unmirrored, disputes };
}
