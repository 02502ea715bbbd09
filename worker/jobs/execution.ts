import type { ServerResponse } from 'node:http';
import type { Logger } from '../../common/logger.ts';
import type { Engine } from '../engine/engine.ts';
import type { JobRequest } from '../protocol/contracts.ts';
import { asWorkerError, WorkerError, type WorkerErrorCode } from '../protocol/errors.ts';
import { createEventStream } from '../protocol/eventStream.ts';
import type { Admitted } from './admission.ts';
import { answer } from './answer.ts';
import type { Proof, SignProof } from './proofSigner.ts';
import { watchStream } from './streamWatchdog.ts';

/** How an admitted job ended. */
export interface JobResult {
  jobId: string;
  /** A catalog id: the ledger's check has passed. */
  model: string;
  outcome: 'proved' | WorkerErrorCode;
  seconds: number;
  /** From the request to the first text or reasoning; undefined without any. */
  firstTextSeconds?: number | undefined;
  proof?: Proof | undefined;
}

/** The signals that stop or cancel one job. */
export interface Controls {
  /** What the ledger has about it. */
  admitted: Admitted;
  /** When it was requested, by `performance.now()`. */
  requestedAtMs: number;
  /** Ends the answer early, with a proof of what was sent. */
  stop: AbortController;
  /** Ends it without a proof. */
  cancel: AbortController;
  /** Aborts with either. */
  ends: AbortSignal;
  /** Called before the first text or reasoning is sent. */
  onOutput: () => void;
  /** May have begun already. */
  engine: Engine;
}

/**
 * Answers one job on `response`; resolves when the response is complete or its caller disconnected.
 *
 * @throws WorkerError only while nothing has been sent
 */
type Execute = (request: JobRequest, response: ServerResponse, controls: Controls) => Promise<void>;

const MS_PER_SECOND = 1_000;

/** @param dependencies.nowMs for how long the engine is silent */
export function createExecute(dependencies: {
  signProof: SignProof;
  logger: Logger;
  onEnd: (result: JobResult) => void;
  nowMs: () => number;
}): Execute {
  const { signProof, logger, onEnd, nowMs } = dependencies;
  return async (request, response, controls) => {
    const { admitted, requestedAtMs, stop, cancel, ends } = controls;
    const secondsSoFar = (): number => (performance.now() - requestedAtMs) / MS_PER_SECOND;
    let firstTextSeconds: number | undefined;
    const onOutput = (): void => {
      firstTextSeconds = secondsSoFar();
      controls.onOutput();
    };
    const end = (outcome: JobResult['outcome'], proof?: Proof): void =>
      onEnd({
        jobId: request.job_id,
        model: request.chat.model,
        outcome,
        seconds: secondsSoFar(),
        firstTextSeconds,
        proof,
      });
    const fields = { job_id: request.job_id, attempt: request.attempt };
    const stream = createEventStream(response, cancel.signal);
    const { engine, reasonOfClose } = watchStream(controls.engine, request.chat, nowMs);
    const cancelForCaller = (): void => cancel.abort(reasonOfClose());
    const late = new WorkerError('deadline_passed', 'The proof would come too late');
    const proofDue = setTimeout(() => cancel.abort(late), admitted.proofDueMs);
    response.once('close', cancelForCaller);
    // A response that was closed before emits no event.
    if (response.destroyed) cancelForCaller();
    try {
      const work = { request, engine, ends, stream, signProof, onOutput };
      const proof = await answer({ ...work, stop: stop.signal, cancel: cancel.signal });
      end('proved', proof);
      logger.info({ msg: 'Proved a job', ...fields, completion_tokens: proof.completion_tokens });
      await stream.end('proof', proof);
    } catch (error) {
      const failure = asWorkerError(error);
      end(failure.code);
      const level = failure.code === 'internal_error' ? 'error' : 'warn';
      logger[level]({ msg: 'Gave no proof for a job', ...fields, code: failure.code, err: error });
      if (!stream.isOpen) throw failure;
      await stream.end('error', failure);
    } finally {
      clearTimeout(proofDue);
    }
  };
}
