import type { Keypair, PublicKey } from '@solana/web3.js';
import type { Express } from 'express';
import express from 'express';
import type { Logger } from '../common/logger.ts';
import { createAddresses } from '../programs/client/addresses.ts';
import type { Rpc } from '../programs/client/rpc/rpc.ts';
import type { Engine } from './engine/engine.ts';
import { createAdmission } from './jobs/admission.ts';
import { createAttempts } from './jobs/attempts.ts';
import { createJobs } from './jobs/jobs.ts';
import { createProofSigner, type SignProof } from './jobs/output.ts';
import { createHostedModels } from './ledger/eligibility.ts';
import { createLookout } from './ledger/jobLookup.ts';
import { createLedgerStart, createWorkerLedger } from './ledger/ledger.ts';
import { createAuthentication } from './protocol/authentication.ts';
import { jobRequest, stopPath, stopRequest } from './protocol/contracts.ts';
import {
  createErrorRenderer,
  parse,
  parseJson,
  routeNotFound,
  WorkerError,
} from './protocol/errors.ts';

/** Who a worker is: its place on the ledger, its key, and how much it does at once. */
export interface WorkerIdentity {
  programId: PublicKey;
  /** The authority that registered the worker; the Worker account's address follows from it. */
  authority: PublicKey;
  proofKey: Keypair;
  slots: number;
}

export interface Worker {
  /** Not listening yet. */
  app: Express;
  /** The address of the Worker account. */
  address: PublicKey;
  /** Takes no more jobs, waits up to `graceMs` for those that run, and cancels the rest. */
  close(graceMs: number): Promise<void>;
}

/** The API takes 4 MiB of its client; the job's own fields come on top. */
const BODY_BYTES_MAX = 5 * 1024 * 1024;

/**
 * One worker as an express app.
 *
 * @param signProof makes the proofs; by default with the worker's proof key
 * @param now Unix time in milliseconds, for the age of signed requests
 */
export function createWorker(options: {
  identity: WorkerIdentity;
  rpc: Rpc;
  engine: Engine;
  logger: Logger;
  signProof?: SignProof;
  now?: () => number;
}): Worker {
  const { identity, rpc, engine, logger, now = Date.now } = options;
  const { programId, proofKey, slots } = identity;
  const address = createAddresses(programId).worker(identity.authority);
  const ledger = createWorkerLedger({ rpc, programId, worker: address });
  const authenticate = createAuthentication(address, now);
  const readStart = createLedgerStart(ledger);
  const own = { programId, worker: address, proofKey: proofKey.publicKey };
  const jobs = createJobs({
    admission: createAdmission(ledger, createLookout(ledger, slots), own, readStart),
    attempts: createAttempts(),
    engine,
    signProof: options.signProof ?? createProofSigner({ programId, worker: address, proofKey }),
    slots,
    logger,
  });
  const readHostedModels = createHostedModels({
    ledger,
    logger,
    now,
    proofKey: proofKey.publicKey,
  });

  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.use((_request, response, next) => {
    if (engine.kind === 'builtin') response.setHeader('x-svc-engine', 'builtin');
    next();
  });

  app.get('/health', async (_request, response) => {
    // Whoever is answered may lock a job at once, which must not look like one of before.
    await readStart();
    response.json({
      worker_address: address.toBase58(),
      models: await readHostedModels(),
      slots,
      in_flight: jobs.inFlight,
      engine: engine.kind,
    });
  });

  // The signature covers the bytes as they arrived, so nothing may decode them first.
  app.use(express.raw({ type: () => true, inflate: false, limit: BODY_BYTES_MAX }));

  app.post('/jobs', async (request, response) => {
    const body = parseJson(jobRequest, request.body);
    const { headers } = request;
    const signed = { headers, body: request.body, job: body.job_address, attempt: body.attempt };
    const signer = authenticate({ kind: 'job', ...signed });
    if (!body.program_id.equals(programId) || !body.worker_address.equals(address)) {
      throw new WorkerError('job_mismatch', 'The job is for another worker or another program');
    }
    await jobs.run(body, signer, response);
  });

  app.post('/jobs/:job_address/stop', async (request, response) => {
    const { attempt } = parseJson(stopRequest, request.body);
    const job = parse(stopPath, request.params).job_address;
    const { headers } = request;
    const signer = authenticate({ kind: 'stop', headers, body: request.body, job, attempt });
    await jobs.stop(job, attempt, signer);
    response.json({ stopped: true });
  });

  app.use(routeNotFound);
  app.use(createErrorRenderer(logger));
  return { app, address, close: (graceMs) => jobs.close(graceMs) };
}
