import type { ServerResponse } from 'node:http';
import type { PublicKey } from '@solana/web3.js';
import { LRUCache } from 'lru-cache';
import type { Logger } from '../../common/logger.ts';
import { begin, delay } from '../../common/wait.ts';
import type { StopReason } from '../../common/workerProtocol.ts';
import type { Engine } from '../engine/engine.ts';
import { SIGNERS_MAX } from '../protocol/authentication.ts';
import type { JobRequest } from '../protocol/contracts.ts';
import { WorkerError } from '../protocol/errors.ts';
import type { Admission, Admitted } from './admission.ts';
import type { Attempts } from './attempts.ts';
import { type Controls, createExecute, type JobResult } from './execution.ts';
import type { SignProof } from './proofSigner.ts';

export type Jobs = ReturnType<typeof createJobs>;

interface RunningJob extends Controls {
  attempt: number;
  ended: Promise<void>;
}

/** What a gateway asks to end early, and why. */
interface Stop {
  address: PublicKey;
  attempt: number;
  reason: StopReason;
}

interface Dependencies {
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
}

/** The running jobs. */
export function createJobs(dependencies: Dependencies) {
  const { admission, attempts, engine, signProof, capacity, logger } = dependencies;
  const { onEnd = () => undefined, nowMs = () => performance.now() } = dependencies;
  /** Jobs that passed the ledger's check, by their address: at most one attempt of each. */
  const running = new Map<string, RunningJob>();
  const execute = createExecute({ signProof, logger, onEnd, nowMs });
  const { admit, takeTurn } = createAdmit(admission, attempts, capacity);
  /** Jobs whose answers began before the ledger showed them. */
  const early = new Set<string>();
  const closing = new AbortController();

  function requireCapacity(): void {
    if (running.size >= capacity || closing.signal.aborted) {
      throw new WorkerError('no_free_slot', 'This worker takes no further job now');
    }
  }

  /**
   * Has the engine begin while the ledger is asked, so that a client waits for the longer of both. Only
   * in a turn that the signer's earlier jobs gave it: else anybody could make this worker compute for
   * no job.
   */
  function beginEarly(request: JobRequest, signer: PublicKey, joined: () => AbortSignal) {
    const { chat, token_limit, job_address } = request;
    const key = job_address.toBase58();
    if (running.size + early.size >= capacity || early.has(key)) return undefined;
    if (!takeTurn(signer)) return undefined;
    early.add(key);
    return begin(engine.generate(chat, { tokenLimit: token_limit, signal: joined() }));
  }

  async function answer(
    request: JobRequest,
    response: ServerResponse,
    controls: Controls,
  ): Promise<void> {
    const key = request.job_address.toBase58();
    try {
      requireCapacity();
      const ended = execute(request, response, controls);
      running.set(key, { ...controls, attempt: request.attempt, ended });
      await ended;
    } finally {
      running.delete(key);
      attempts.end(key);
    }
  }

  return {
    get inFlight(): number {
      return running.size;
    },
    /**
     * Answers one job on `response`; resolves when the response is complete or its caller disconnected.
     *
     * @throws WorkerError only while nothing has been sent
     */
    async run(request: JobRequest, signer: PublicKey, response: ServerResponse): Promise<void> {
      const requestedAtMs = performance.now();
      const key = request.job_address.toBase58();
      const { attempt } = request;
      if (!attempts.isOpen(key, attempt)) throw alreadyUsed();
      requireCapacity();
      const [stop, cancel] = [new AbortController(), new AbortController()];
      let ends: AbortSignal | undefined;
      const joined = () => (ends ??= AbortSignal.any([stop.signal, cancel.signal]));
      const begun = beginEarly(request, signer, joined);
      const leave = (): void =>
        cancel.abort(new WorkerError('caller_gone', 'The caller closed the connection'));
      response.once('close', leave);
      try {
        const admitted = await admit(request, signer).finally(() => {
          if (begun) early.delete(key);
          response.off('close', leave);
        });
        const onOutput = (): void => attempts.recordOutput(key);
        const generating = begun ? { kind: engine.kind, generate: () => begun } : engine;
        const controls = { admitted, requestedAtMs, stop, cancel, ends: joined(), onOutput };
        await answer(request, response, { ...controls, engine: generating });
      } catch (refusal) {
        cancel.abort(refusal);
        begun?.drop();
        throw refusal;
      }
    },
    /**
     * Ends a running job early, with a proof of what was sent.
     *
     * @throws WorkerError when no such attempt runs, or when the signer may not stop it
     */
    async stop(asked: Stop, signer: PublicKey): Promise<void> {
      const job = running.get(asked.address.toBase58());
      if (job?.attempt !== asked.attempt)
        throw new WorkerError('job_not_running', 'No such attempt runs here');
      await admission.authorize(job.admitted.controller, signer);
      job.stop.abort(asked.reason);
    },
    /** Refuses further jobs, waits up to `graceMs` for the running ones, and cancels the rest. */
    async close(graceMs: number): Promise<void> {
      closing.abort();
      await endWithin(graceMs, [...running.values()]);
    },
  };
}

/** Takes a job only for a permitted caller, so that no other request can use it up. */
function createAdmit(admission: Admission, attempts: Attempts, turnsMax: number) {
  /**
   * The signers whose last job passed: their lookups have no bound in common. Each job that passes
   * gives its signer one turn in which an engine begins before the ledger has shown a job.
   */
  const knownSigners = new LRUCache<string, number>({ max: SIGNERS_MAX });
  const turnsOf = (signer: PublicKey): number => knownSigners.get(signer.toBase58()) ?? 0;
  return {
    /** @returns whether the signer had a turn, which is used up */
    takeTurn(signer: PublicKey): boolean {
      const turns = turnsOf(signer);
      if (turns > 0) knownSigners.set(signer.toBase58(), turns - 1);
      return turns > 0;
    },
    async admit(request: JobRequest, signer: PublicKey): Promise<Admitted> {
      const signerKey = signer.toBase58();
      try {
        const admitted = await admission.admit(request, signer, knownSigners.has(signerKey));
        const key = request.job_address.toBase58();
        if (!attempts.take(key, request.attempt, admitted)) throw alreadyUsed();
        knownSigners.set(signerKey, Math.min(turnsOf(signer) + 1, turnsMax));
        return admitted;
      } catch (refusal) {
        // So each admitted job gives its signer at most one lookup outside of the common bound.
        knownSigners.delete(signerKey);
        throw refusal;
      }
    },
  };
}

/** Waits up to `graceMs` for jobs, and cancels the rest. */
async function endWithin(graceMs: number, jobs: readonly RunningJob[]): Promise<void> {
  const grace = new AbortController();
  const allEnded = Promise.allSettled(jobs.map(({ ended }) => ended));
  await Promise.race([allEnded, delay(graceMs, grace.signal)]);
  grace.abort();
  const reason = new WorkerError('shutting_down', 'This worker is shutting down');
  for (const { cancel } of jobs) cancel.abort(reason);
  await allEnded;
}

function alreadyUsed(): WorkerError {
  return new WorkerError(
    'attempt_already_used',
    'This worker took the attempt, or answers the job',
  );
}
