import type { ServerResponse } from 'node:http';
import type { PublicKey } from '@solana/web3.js';
import type { Logger } from '../runtime/logger.ts';
import { delay } from '../runtime/wait.ts';
import type { Admission, Admitted } from './admission.ts';
import { answer } from './answer.ts';
import type { Attempts } from './attempts.ts';
import type { JobRequest } from './contracts.ts';
import type { Engine } from './engine/engine.ts';
import { asWorkerError, WorkerError } from './errors.ts';
import { createEventStream } from './eventStream.ts';
import type { SignProof } from './proofs.ts';
import { createSignerMemory } from './signerMemory.ts';

/** The jobs that run now. */
export interface Jobs {
  readonly inFlight: number;
  /**
   * Answers one job on `response`; resolves when the response is complete or its caller gone.
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
  /** Takes no more jobs, waits up to `graceMs` for those that run, and cancels the rest. */
  close(graceMs: number): Promise<void>;
}

interface RunningJob {
  admitted: Promise<Admitted>;
  stop: AbortController;
  cancel: AbortController;
  ended: Promise<void>;
}

export function createJobs(dependencies: {
  admission: Admission;
  attempts: Attempts;
  engine: Engine;
  signProof: SignProof;
  slots: number;
  logger: Logger;
}): Jobs {
  const { admission, attempts, engine, signProof, slots, logger } = dependencies;
  const running = new Map<string, RunningJob>();
  const signers = createSignerMemory();
  const closing = new AbortController();

  function requireSlot(): void {
    if (running.size >= slots || closing.signal.aborted) {
      throw new WorkerError('no_free_slot', 'This worker takes no further job now');
    }
  }

  /** The attempt is taken only for a caller who may have it, so that nobody can use it up. */
  async function admit(request: JobRequest, signer: PublicKey): Promise<Admitted> {
    const admitted = await admission.admit(request, signer);
    if (!attempts.take(keyOf(request.job_address, request.attempt))) throw alreadyUsed();
    signers.add(signer);
    return admitted;
  }

  async function execute(
    request: JobRequest,
    response: ServerResponse,
    job: Omit<RunningJob, 'ended'>,
  ): Promise<void> {
    const { admitted, stop, cancel } = job;
    const fields = { job_id: request.job_id, attempt: request.attempt };
    const stream = createEventStream(response, cancel.signal);
    const leave = (): void =>
      cancel.abort(new WorkerError('caller_gone', 'The caller closed the connection'));
    let proofDue: NodeJS.Timeout | undefined;
    admitted.then(
      ({ proofDueMs }) => {
        const late = new WorkerError('deadline_passed', 'The proof would come too late');
        proofDue = setTimeout(() => cancel.abort(late), proofDueMs);
      },
      (refusal) => cancel.abort(refusal),
    );
    response.once('close', leave);
    // Its close is not told twice.
    if (response.destroyed) leave();
    try {
      const work = { request, engine, admitted, stream, signProof };
      const proof = await answer({ ...work, stop: stop.signal, cancel: cancel.signal });
      stream.end('proof', proof);
      logger.info({ msg: 'Proved a job', ...fields, completion_tokens: proof.completion_tokens });
    } catch (error) {
      const failure = asWorkerError(error);
      const level = failure.code === 'internal_error' ? 'error' : 'warn';
      logger[level]({ msg: 'Gave no proof for a job', ...fields, code: failure.code, err: error });
      if (!stream.isOpen) throw failure;
      stream.end('error', failure);
    } finally {
      clearTimeout(proofDue);
    }
  }

  return {
    get inFlight() {
      return running.size;
    },
    async run(request, signer, response) {
      const key = keyOf(request.job_address, request.attempt);
      if (running.has(key) || attempts.isTaken(key)) throw alreadyUsed();
      requireSlot();
      const admitted = admit(request, signer);
      if (!signers.has(signer)) {
        await admitted;
        requireSlot();
      }
      const job = { admitted, stop: new AbortController(), cancel: new AbortController() };
      const ended = execute(request, response, job).finally(() => running.delete(key));
      running.set(key, { ...job, ended });
      await ended;
    },
    async stop(address, attempt, signer) {
      const job = running.get(keyOf(address, attempt));
      if (!job) throw new WorkerError('job_not_running', 'No such attempt runs here');
      const { controller } = await job.admitted;
      await admission.authorize(controller, signer);
      job.stop.abort();
    },
    async close(graceMs) {
      closing.abort();
      const grace = new AbortController();
      const allEnded = Promise.allSettled([...running.values()].map(({ ended }) => ended));
      await Promise.race([allEnded, delay(graceMs, grace.signal)]);
      grace.abort();
      const reason = new WorkerError('shutting_down', 'This worker is shutting down');
      for (const { cancel } of running.values()) cancel.abort(reason);
      await allEnded;
    },
  };
}

function keyOf(job: PublicKey, attempt: number): string {
  return `${job.toBase58()}:${attempt}`;
}

function alreadyUsed(): WorkerError {
  return new WorkerError('attempt_already_used', 'This attempt was already taken');
}
