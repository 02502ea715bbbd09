import { createHash } from 'node:crypto';
import { PublicKey } from '@solana/web3.js';
import { proofMessage, verifySignature } from '../../programs/client/proof.ts';
import type { LedgerClock } from '../../programs/client/sender/ledgerClock.ts';
import type { Slot } from '../routing/slots.ts';
import {
  type WorkerClient,
  WorkerFailedError,
  type WorkerProof,
  type WorkerTask,
} from '../routing/workerClient.ts';
import { type JobDeadlines, SILENCE_SECONDS } from './deadlines.ts';
import type { FinishReason } from './delivery.ts';

/** The worker's whole answer with the proof that was checked against it. */
export interface ProvenAnswer {
  slot: Slot;
  attempt: number;
  /** What the worker says of its engine. */
  engine: string | null;
  text: string;
  finishReason: FinishReason;
  proof: WorkerProof;
}

/** How one attempt ended. Only before the first content may another worker be asked. */
export type AttemptEnd =
  | { kind: 'proven'; answer: ProvenAnswer }
  | { kind: 'context_exceeded' }
  | { kind: 'client_gone' }
  /** No proof can come in time any more: the job ends by refund. */
  | { kind: 'overdue' }
  | {
      kind: 'failed';
      reason:
        | 'worker_error'
        | 'proof_missing'
        | 'proof_invalid'
        | 'output_mismatch'
        | 'empty_output';
      hasContent: boolean;
      cause: string;
    };

/** Accepted text per token of the limit: above any tokenizer's longest words, below abuse. */
const CHARACTERS_PER_TOKEN_MAX = 64;
const CHARACTERS_SPARE = 65_536;

/**
 * Asks one worker, passes its text on as it comes, and checks its proof.
 *
 * @param options.onContent called with each accepted piece; it has then counted as delivered
 * @param options.hasOthers whether a silent worker could be replaced
 * @param options.clientGone aborts when nobody waits for the answer any more
 */
export async function runAttempt(options: {
  slot: Slot;
  task: WorkerTask;
  programId: PublicKey;
  workers: WorkerClient;
  clock: LedgerClock;
  deadlines: JobDeadlines;
  hasOthers: () => boolean;
  onStarted: (engine: string | null) => void;
  onContent: (text: string) => void;
  onFirstToken: (afterMs: number) => void;
  clientGone: AbortSignal;
  /** A plain answer has no reader before its end; one whose reader left is not worth finishing. */
  keepPartial: boolean;
}): Promise<AttemptEnd> {
  const { slot, task, workers, clock, deadlines, clientGone } = options;
  const startedAt = clock.nowSeconds();
  const startedMs = performance.now();
  const connection = new AbortController();
  const over = new AbortController();
  const textMax = task.tokenLimit * CHARACTERS_PER_TOKEN_MAX + CHARACTERS_SPARE;
  let text = '';
  let engine: string | null = null;
  let finishReason: FinishReason | undefined;
  let isStopped = false;
  /** Why we cut the connection ourselves, if we did. */
  let cut: 'overdue' | 'silent' | 'client_gone' | undefined;

  function cutConnection(why: typeof cut): void {
    cut ??= why;
    connection.abort();
  }

  function stop(): void {
    if (isStopped) return;
    isStopped = true;
    // A worker that does not hear the stop sends no proof in time, and that is what decides.
    workers.stop(task).catch(() => undefined);
  }

  /** Nobody reads a stream's rest, but what was produced is proven and paid. */
  function leave(): void {
    if (text && options.keepPartial) stop();
    else cutConnection('client_gone');
  }

  function onDeadline(at: bigint, act: () => void): void {
    void clock.waitUntil(at, over.signal).then(() => {
      if (!over.signal.aborted) act();
    });
  }

  clientGone.addEventListener('abort', leave);
  if (clientGone.aborted) leave();
  onDeadline(deadlines.stopAt, () => text && stop());
  onDeadline(deadlines.proofDueAt, () => cutConnection('overdue'));
  onDeadline(startedAt + SILENCE_SECONDS, () => {
    if (!text && options.hasOthers()) cutConnection('silent');
  });

  const failed = (
    reason: Extract<AttemptEnd, { kind: 'failed' }>['reason'],
    cause: string,
  ): AttemptEnd => ({ kind: 'failed', reason, hasContent: text !== '', cause });

  try {
    for await (const event of workers.ask(task, connection.signal)) {
      switch (event.type) {
        case 'started':
          engine = event.engine;
          options.onStarted(engine);
          break;
        case 'content':
          if (!text) options.onFirstToken(performance.now() - startedMs);
          text += event.text;
          if (text.length > textMax) return failed('worker_error', 'text_too_long');
          options.onContent(event.text);
          if (clock.nowSeconds() >= deadlines.stopAt) stop();
          break;
        case 'finish':
          finishReason = event.reason === 'length' || isStopped ? 'length' : 'stop';
          break;
        case 'proof': {
          if (!text) return failed('empty_output', 'no text');
          const fault = findFault(event.proof, text, options);
          if (fault) return failed(fault, fault);
          const answer = { slot, attempt: task.attempt, engine, text, proof: event.proof };
          return {
            kind: 'proven',
            answer: { ...answer, finishReason: finishReason ?? (isStopped ? 'length' : 'stop') },
          };
        }
      }
    }
    return failed(text ? 'proof_missing' : 'empty_output', 'ended without a proof');
  } catch (error) {
    if (cut === 'client_gone') return { kind: 'client_gone' };
    if (cut === 'overdue') return { kind: 'overdue' };
    if (!(error instanceof WorkerFailedError)) throw error;
    if (error.code === 'context_length_exceeded' && !text) return { kind: 'context_exceeded' };
    return failed('worker_error', cut ?? error.code);
  } finally {
    over.abort();
    connection.abort();
    clientGone.removeEventListener('abort', leave);
  }
}

/** What is wrong with a proof, given the text we accepted; undefined when it holds. */
function findFault(
  proof: WorkerProof,
  text: string,
  options: { slot: Slot; task: WorkerTask; programId: PublicKey },
): 'output_mismatch' | 'proof_invalid' | undefined {
  const { slot, task, programId } = options;
  const delivered = createHash('sha256').update(text, 'utf8').digest();
  if (!delivered.equals(proof.outputHash)) return 'output_mismatch';
  const isSigned = verifySignature({
    publicKey: new PublicKey(slot.worker.proof_key),
    signature: proof.signature,
    message: proofMessage({
      programId,
      job: task.jobAddress,
      worker: new PublicKey(slot.worker.address),
      attempt: task.attempt,
      outputHash: proof.outputHash,
      promptTokens: proof.promptTokens,
      completionTokens: proof.completionTokens,
    }),
  });
  if (!isSigned) return 'proof_invalid';
  return undefined;
}
