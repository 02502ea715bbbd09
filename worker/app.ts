import type { PublicKey } from '@solana/web3.js';
import type { Express } from 'express';
import express from 'express';
import type { Logger } from '../common/logger.ts';
import type { Commitment } from '../common/net/commitment.ts';
import { REQUEST_BYTES_MAX } from '../common/workerProtocol.ts';
import { createAddresses } from '../programs/client/addresses.ts';
import type { KeyHolder } from '../programs/client/proof.ts';
import type { Rpc } from '../programs/client/rpc/rpc.ts';
import type { Engine } from './engine/engine.ts';
import { createReadiness } from './engine/readiness.ts';
import { createAdmission } from './jobs/admission.ts';
import { createAttempts } from './jobs/attempts.ts';
import { createJobs, type Jobs } from './jobs/jobs.ts';
import { createProofSigner, type SignProof } from './jobs/proofSigner.ts';
import { createHostedModels } from './ledger/eligibility.ts';
import { createJobLookup } from './ledger/jobLookup.ts';
import { createLedgerStart, createWorkerLedger } from './ledger/ledger.ts';
import type { Terms } from './ledger/terms.ts';
import type { WorkerMetrics } from './metrics.ts';
import { createAuthentication } from './protocol/authentication.ts';
import { commitToRequest, jobBody, stopPath, stopRequest } from './protocol/contracts.ts';
import {
  asWorkerError,
  createErrorRenderer,
  parse,
  readJson,
  routeNotFound,
  WorkerError,
} from './protocol/errors.ts';

/** A worker's account on the ledger, its proof key, its capacity and its terms. */
export interface WorkerIdentity {
  programId: PublicKey;
  /** The authority that registered the worker; the Worker account's address follows from it. */
  authority: PublicKey;
  proofKey: KeyHolder;
  /** The number of jobs that it takes at once. */
  capacity: number;
  /** What it demands of jobs. */
  terms: Terms;
}

/** A gateway adds the fields of the job to its client's request. */
const BODY_BYTES_MAX = REQUEST_BYTES_MAX + 1_024 * 1_024;

interface WorkerOptions {
  identity: WorkerIdentity;
  rpc: Rpc;
  /** How sure the ledger has to be of a lock. */
  commitment?: Commitment | Promise<Commitment>;
  engine: Engine;
  logger: Logger;
  /** Makes the proofs; by default with the worker's proof key. */
  signProof?: SignProof;
  /** Counts what happens; by default nothing does. */
  metrics?: WorkerMetrics | undefined;
  /** Unix time in milliseconds, for the age of signed requests and for silences. */
  now?: () => number;
  /** Waits so many milliseconds between two readings of the ledger. */
  wait?: (ms: number) => Promise<void>;
  /** How long a health check waits for the trial of a model. */
  trialWaitMs?: number | undefined;
}

/** One worker as an express app. */
export function createWorker(options: WorkerOptions) {
  const { identity, rpc, engine, logger, metrics, now = Date.now, wait } = options;
  const { programId, proofKey, capacity, terms } = identity;
  const address = createAddresses(programId).worker(identity.authority);
  const { commitment = 'confirmed' } = options;
  const ledger = createWorkerLedger({ rpc, programId, worker: address, commitment });
  const readStart = createLedgerStart(ledger, wait);
  const own = { programId, worker: address, proofKey: proofKey.publicKey, terms };
  const readiness = createReadiness({ engine, logger, now, trialWaitMs: options.trialWaitMs });
  const jobs = createJobs({
    admission: createAdmission(ledger, createJobLookup(ledger, capacity, wait), own, readStart),
    attempts: createAttempts(),
    engine: readiness.engine,
    signProof: options.signProof ?? createProofSigner({ programId, worker: address, proofKey }),
    capacity,
    logger,
    onEnd: (result) => metrics?.jobEnded(result),
    nowMs: now,
  });
  metrics?.watch(jobs, capacity);
  const readHostedModels = createHostedModels({ ledger, own, logger, now });

  /** Refused while this worker cannot answer, for any reason. */
  async function readHealth(): Promise<object> {
    // The caller may lock a job at once, and that job must count as locked after the start.
    await readStart();
    const models = await readHostedModels();
    await readiness.require(models);
    return {
      worker_address: address.toBase58(),
      models,
      slots: capacity,
      in_flight: jobs.inFlight,
      engine: engine.kind,
      first_token_ms: readiness.firstTokenMs(),
      response_format: readiness.taking('response_format', models),
      tools: readiness.taking('tools', models),
      gateways: terms.gateways === 'any' ? 'any' : terms.gateways.map(String),
    };
  }

  // An upstream begins to load its models now. Health checks repeat what fails here, and say why.
  ledger
    .readHosting()
    .then(({ models }) => readiness.require(models))
    .catch(() => undefined);

  return {
    /** Not listening yet. */
    app: createApp({ programId, address, engine, jobs, readHealth, now, logger, metrics }),
    /** The address of the Worker account. */
    address,
    /** Refuses further jobs, waits up to `graceMs` for the running ones, and cancels the rest. */
    async close(graceMs: number): Promise<void> {
      readiness.close();
      await jobs.close(graceMs);
    },
  };
}

function createApp(parts: {
  programId: PublicKey;
  address: PublicKey;
  engine: Engine;
  jobs: Jobs;
  readHealth: () => Promise<object>;
  now: () => number;
  logger: Logger;
  metrics: WorkerMetrics | undefined;
}): Express {
  const { programId, address, engine, jobs, readHealth, now, logger, metrics } = parts;
  const authenticate = createAuthentication(address, now);
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.use((_request, response, next) => {
    if (engine.kind === 'builtin') response.setHeader('x-svc-engine', 'builtin');
    next();
  });

  app.get('/health', async (_request, response) => {
    const health = await readHealth().catch((error: unknown) => {
      metrics?.healthChecked(asWorkerError(error).code);
      throw error;
    });
    metrics?.healthChecked('ready');
    response.json(health);
  });

  // The signature covers the raw bytes, so nothing may decode them before the check.
  app.use(express.raw({ type: () => true, inflate: false, limit: BODY_BYTES_MAX }));

  app.post('/jobs', async ({ headers, body: bytes }, response) => {
    const raw = readJson(bytes);
    const body = parse(jobBody, raw);
    const signed = { headers, body: bytes, job: body.job_address, attempt: body.attempt };
    const signer = authenticate({ kind: 'job', ...signed });
    if (!body.program_id.equals(programId) || !body.worker_address.equals(address)) {
      throw new WorkerError('job_mismatch', 'The job is for another worker or another program');
    }
    await jobs.run(commitToRequest(body, raw), signer, response);
  });

  app.post('/jobs/:job_address/stop', async ({ headers, body, params }, response) => {
    const { attempt, reason } = parse(stopRequest, readJson(body));
    const job = parse(stopPath, params).job_address;
    const signer = authenticate({ kind: 'stop', headers, body, job, attempt });
    await jobs.stop({ address: job, attempt, reason }, signer);
    response.json({ stopped: true });
  });

  app.use(routeNotFound);
  app.use(createErrorRenderer(logger, (code) => metrics?.refused(code)));
  return app;
}
