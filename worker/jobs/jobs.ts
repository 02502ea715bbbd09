import type { ServerResponse } from 'node:http';
import type { PublicKey } from '@solana/web3.js';
import { LRUCache } from 'lru-cache';
import type { Logger } from '../../common/logger.ts';
import { delay } from '../../common/wait.ts';
import type { Engine } from '../engine/engine.ts';
import type { JobRequest } from '../protocol/contracts.ts';
import { WorkerError } from '../protocol/errors.ts';
import type { Admission, Admitted } from './admission.ts';
import { type Attempts, createEarlyStarts } from './attempts.ts';
import { type Controls, createExecute, type JobResult } from './execution.ts';
import type { SignProof } from './proofSigner.ts';

/** The running jobs. */
export interface Jobs {
  readonly inFlight: number;
  /**
   * Answers one job on `response`; resolves when the response is complete or its caller disconnected.
   *
   * @throws WorkerError only while nothing has been sent
   */
  run(request: JobRequest, signer: PublicKey, response: ServerResponse): Promise<void>;
  /**
   * Ends a running job early, with a proof of what was sent.
   *
   * @throws WorkerError when no such attempt runs, or when the signer may not stop it
   */
  stop(job: PublicKey, attempt: number, signer: PublicKey): Promise<void>;
  /** Refuses further jobs, waits up to `graceMs` for the running ones, and cancels the rest. */
  close(graceMs: number): Promise<void>;
}

interface RunningJob extends Controls {
  attempt: number;
  ended: Promise<void>;
}

type RunJob = (
  /** The job's address. */
  key: string,
  request: JobRequest,
  signer: PublicKey,
  response: ServerResponse,
) => Promise<void>;

/**
 * How many signers whose last job passed are remembered. Anybody can sign a request. Only for such a
 * signer does the engine start before the ledger's check, so that no other makes it work unpaid.
 * A worker serves a few gateways, and sometimes a wallet that sends its own jobs.
 */
const SIGNERS_MAX = 256;

export function createJobs(dependencies: {
  admission: Admission;
  attempts: Attempts;
  engine: Engine;
  signProof: SignProof;
  capacity: number;
  logger: Logger;
  /** Called once for each admitted job. */
  onEnd?: (result: JobResult) => void;
  /** A clock in milliseconds, for how long the engine is silent. */
  nowMs?: () => number;
}): Jobs {
  const { admission, attempts, engine, signProof, capacity, logger } = dependencies;
  const { onEnd = () => undefined, nowMs = () => performance.now() } = dependencies;
  /** Jobs that passed the ledger's check, by their address: at most one attempt of each. */
  const running = new Map<string, RunningJob>();
  const earlyStarts = createEarlyStarts<RunningJob>(capacity);
  const execute = createExecute({ engine, signProof, logger, onEnd, nowMs });
  const knownSigners = new LRUCache<string, true>({ max: SIGNERS_MAX });
  const closing = new AbortController();

  function countInFlight(): number {
    return running.size + earlyStarts.size;
  }

  function requireCapacity(): void {
    if (countInFlight() >= capacity || closing.signal.aborted) {
      throw new WorkerError('no_free_slot', 'This worker takes no further job now');
    }
  }

  /** Takes the job only for a permitted caller, so that no other request can use it up. */
  async function admit(key: string, request: JobRequest, signer: PublicKey): Promise<Admitted> {
    const signerKey = signer.toBase58();
    try {
      const admitted = await admission.admit(request, signer, knownSigners.has(signerKey));
      if (!attempts.take(key, request.attempt, admitted)) throw alreadyUsed();
      knownSigners.set(signerKey, true);
      return admitted;
    } catch (refusal) {
      // So each admitted job gives its signer at most one unpaid start of the engine.
      knownSigners.delete(signerKey);
      throw refusal;
    }
  }

  /** Runs a job after the ledger's check has passed. */
  const runAdmitted: RunJob = async (key, request, signer, response) => {
    const admitted = admit(key, request, signer);
    await admitted;
    try {
      requireCapacity();
      const job = createJob(key, request, response, admitted);
      running.set(key, job);
      await job.ended;
    } finally {
      end(key);
    }
  };

  /** Runs a job during the ledger's check, and lists it once that passes. */
  const runEarly: RunJob = async (key, request, signer, response) => {
    const admitted = admit(key, request, signer).then((passed) => {
      earlyStarts.delete(signer, key, job);
      running.set(key, job);
      return passed;
    });
    const job = createJob(key, request, response, admitted);
    earlyStarts.add(signer, key, job);
    await job.ended.finally(() => {
      earlyStarts.delete(signer, key, job);
      // Another run may have taken the job.
      if (running.get(key) === job) end(key);
    });
  };

  function createJob(
    key: string,
    request: JobRequest,
    response: ServerResponse,
    admitted: Promise<Admitted>,
  ): RunningJob {
    const controls: Controls = {
      admitted,
      stop: new AbortController(),
      cancel: new AbortController(),
      onOutput: () => attempts.recordOutput(key),
    };
    const ended = execute(request, response, controls);
    return { ...controls, attempt: request.attempt, ended };
  }

  function end(key: string): void {
    running.delete(key);
    attempts.end(key);
  }

  return {
    get inFlight() {
      return countInFlight();
    },
    async run(request, signer, response) {
      const key = request.job_address.toBase58();
      if (earlyStarts.has(signer, key) || !attempts.isOpen(key, request.attempt)) {
        throw alreadyUsed();
      }
      requireCapacity();
      const isEarly = knownSigners.has(signer.toBase58()) && earlyStarts.hasCapacity(signer);
      await (isEarly ? runEarly : runAdmitted)(key, request, signer, response);
    },
    async stop(address, attempt, signer) {
      const key = address.toBase58();
      // The one that is admitted is listed afterwards.
      await Promise.allSettled(earlyStarts.of(key).map(({ admitted }) => admitted));
      const job = running.get(key);
      if (job?.attempt !== attempt)
        throw new WorkerError('job_not_running', 'No such attempt runs here');
      const { controller } = await job.admitted;
      await admission.authorize(controller, signer);
      job.stop.abort();
    },
    async close(graceMs) {
      closing.abort();
      const grace = new AbortController();
      const jobs = [...running.values(), ...earlyStarts.all()];
      const allEnded = Promise.allSettled(jobs.map(({ ended }) => ended));
      await Promise.race([allEnded, delay(graceMs, grace.signal)]);
      grace.abort();
      const reason = new WorkerError('shutting_down', 'This worker is shutting down');
      for (const { cancel } of jobs) cancel.abort(reason);
      await allEnded;
    },
  };
}

function alreadyUsed(): WorkerError {
  return new WorkerError(
    'attempt_already_used',
    'This worker took the attempt, or answers the job',
  );
}
