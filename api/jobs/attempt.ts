import {
  answerCharactersMax,
  boundTokens,
  IDLE_MS,
  silentAtMs,
  TEXT_AGE_MS_MAX,
} from '../../common/tokenizers/tokenCounts.ts';
import { delay, systemTime, type Time } from '../../common/wait.ts';
import type { WorkerErrorCode } from '../../common/workerProtocol.ts';
import type { LedgerClock } from '../../programs/client/sender/ledgerClock.ts';
import { FINISH_REASONS } from '../contracts/completionAnswer.ts';
import type { JobDeadlines } from '../ledger/job.ts';
import { isProofOf, type WholeAnswer } from '../ledger/proof.ts';
import type { FinishReason } from '../response/delivery.ts';
import type { Reservation } from '../workers/capacity.ts';
import { commitmentTo, type WorkerClient, type WorkerTask } from '../workers/client.ts';
import { type Piece, type WorkerEvent, WorkerFailedError } from '../workers/events.ts';

/** How one attempt, or a job, ended without a whole answer. */
export type UnprovenResult =
  | { kind: 'context_exceeded' }
  /** The model's server refuses the request, or this field of it. */
  | { kind: 'refused'; param?: string }
  | { kind: 'client_gone' }
  /** The reasoning used the token limit up, so that no answer follows. */
  | { kind: 'limit_reached' }
  /**
   * No proof can come in time any more: the job ends by refund. A worker is excused that still had
   * time to read the prompt, or whose model was thinking.
   */
  | { kind: 'overdue'; isExcused: boolean }
  | {
      kind: 'failed';
      reason: AttemptFailure;
      /** Whether there was text or reasoning. */
      hasBegun: boolean;
      cause: string;
      /** Set when the worker only had no capacity left. */
      busy?: WorkerFailedError['busy'];
      /** Whether nothing listens at the worker's endpoint. */
      isRefused?: boolean;
    };

type AttemptFailure =
  | 'worker_error'
  | 'proof_missing'
  | 'proof_invalid'
  | 'output_mismatch'
  | 'empty_output';

export type AttemptResult = UnprovenResult | { kind: 'whole'; answer: WholeAnswer };

/** The worker has the job. */
export interface StartedEvent {
  type: 'started';
  workerAddress: string;
  attempt: number;
}

/** Text and reasoning that arrived together, in the worker's pieces. */
export interface TextEvent {
  type: 'text';
  pieces: readonly Piece[];
  worker: { address: string; engine: string | null };
  /** How long this worker's first text or reasoning took. */
  firstTokenMs: number;
}

/** A worker's codes for a request that it cannot take, whether or not that is its own fault. */
const REQUEST_REFUSALS: ReadonlySet<string> = new Set<WorkerErrorCode>([
  ...(['request_refused', 'invalid_request', 'body_too_large'] as const),
]);

/** Why a signal aborts. Without a reason, each abort makes an error with a stack. */
const OVER = 'over';

export interface AttemptOptions {
  reservation: Reservation;
  task: WorkerTask;
  workers: WorkerClient;
  clock: LedgerClock;
  time?: Time;
  deadlines: JobDeadlines;
  /** How long the worker may be silent before its first text or reasoning; see `firstSilenceMs`. */
  firstSilenceMs: number;
  /**
   * Finds a worker to go on with once this one was silent for too long. Resolves when there is one,
   * when there is none in time, or when `silence` aborts because this one gave a sign of life.
   */
  findSuccessor: (silence: AbortSignal) => Promise<void>;
  /** Aborts when no client waits for the answer any more. */
  clientGone: AbortSignal;
  /**
   * Whether text and reasoning are read as they come. What was sent then stays sent, and is worth
   * proving after its reader left. Else another worker may start again.
   */
  isStream: boolean;
}

/**
 * Sends the job to one worker, and yields its text as it comes.
 *
 * @returns its whole answer, whose text has the hash of its proof, or why there is none
 */
export async function* runAttempt(
  options: AttemptOptions,
): AsyncGenerator<StartedEvent | TextEvent, AttemptResult> {
  const { reservation, task, workers, clock, deadlines, clientGone, time = systemTime } = options;
  const startedMs = time.nowMs();
  const connection = new AbortController();
  const over = new AbortController();
  const textMax = answerCharactersMax(task.tokenLimit);
  const worker: TextEvent['worker'] = { address: reservation.worker.address, engine: null };
  let text = '';
  let reasoning = '';
  const hasBegun = (): boolean => text !== '' || reasoning !== '';
  let firstTokenMs = 0;
  let finishReason: FinishReason | undefined;
  let commitment: Uint8Array | undefined;
  /** Why the answer was stopped, if it was. */
  let stopped: 'deadline' | 'client_gone' | undefined;
  /** When text or another sign of life last came. */
  let aliveAtMs = startedMs;
  /** When text last came; and text or reasoning. */
  let textAtMs = startedMs;
  let writtenAtMs = startedMs;
  /** Aborts at the next sign of life. */
  let silence = new AbortController();
  /** Why we cut the connection ourselves, if we did. */
  let cut: 'overdue' | 'silent' | 'client_gone' | undefined;

  function cutConnection(why: typeof cut): void {
    cut ??= why;
    connection.abort(OVER);
  }

  function stop(why: typeof stopped): void {
    if (stopped) return;
    stopped = why;
    // A worker that the stop does not reach sends no proof in time, and that is what decides.
    workers.stop(task).catch(() => undefined);
  }

  /** The rest of a stream has no reader, but what was produced is proven and paid. */
  function leave(): void {
    if (text && options.isStream) stop('client_gone');
    else cutConnection('client_gone');
  }

  function noteLife(): void {
    aliveAtMs = time.nowMs();
    silence.abort(OVER);
    silence = new AbortController();
  }

  /**
   * Ends the attempt after a silence that is too long, once another worker can go on or none came free
   * in time. It counts this process's own time: the ledger's may leap.
   */
  async function watchSilence(): Promise<void> {
    while (!over.signal.aborted) {
      const firstMs = hasBegun() ? undefined : options.firstSilenceMs;
      const leftMs = silentAtMs({ begunAtMs: startedMs, aliveAtMs }, firstMs) - time.nowMs();
      if (leftMs > 0) {
        // The first text ends the time to read: less may be left then.
        await delay(Math.min(leftMs, IDLE_MS), over.signal, time);
        continue;
      }
      const { signal } = silence;
      const isFinal = hasBegun() && options.isStream;
      if (!isFinal) await options.findSuccessor(signal);
      if (!signal.aborted) return cutConnection('silent');
    }
  }

  /**
   * An answer whose text still comes is cut off with a proof. Any other is given up despite signs of
   * life: else one word, and only signs of life after it, would be paid in full.
   */
  function endInTime(): void {
    if (text === '') return;
    if (time.nowMs() - textAtMs <= TEXT_AGE_MS_MAX) stop('deadline');
    else cutConnection('silent');
  }

  function overdue(): UnprovenResult {
    const nowMs = time.nowMs();
    const isReading = !hasBegun() && nowMs - startedMs <= options.firstSilenceMs;
    const isThinking = reasoning !== '' && nowMs - writtenAtMs <= TEXT_AGE_MS_MAX;
    return { kind: 'overdue', isExcused: text === '' && (isReading || isThinking) };
  }

  function onDeadline(at: bigint, act: () => unknown): void {
    void clock.waitUntil(at, over.signal).then(() => {
      if (!over.signal.aborted) act();
    });
  }

  const failed = (
    reason: AttemptFailure,
    cause: string,
    { busy, isRefused = false }: Partial<Pick<WorkerFailedError, 'busy' | 'isRefused'>> = {},
  ): UnprovenResult => ({ kind: 'failed', reason, hasBegun: hasBegun(), cause, busy, isRefused });

  /** @returns the attempt's result when the worker sent more text than any answer can have */
  function accept(piece: Piece): UnprovenResult | undefined {
    if (!hasBegun()) {
      firstTokenMs = time.nowMs() - startedMs;
      setImmediate(commitEarly);
      reservation.observeFirstToken(firstTokenMs);
    }
    writtenAtMs = time.nowMs();
    if (piece.type === 'content') {
      text += piece.text;
      textAtMs = writtenAtMs;
    } else reasoning += piece.text;
    const length = Math.max(text.length, reasoning.length);
    return length > textMax ? failed('worker_error', 'text_too_long') : undefined;
  }

  /** Of a long request it takes milliseconds: it is made while the worker writes. */
  const committed = (): Uint8Array => (commitment ??= commitmentTo(task));
  function commitEarly(): void {
    try {
      committed();
    } catch {
      // The attempt's end throws it again, and the job fails.
    }
  }

  function conclude({ proof }: Extract<WorkerEvent, { type: 'proof' }>): AttemptResult {
    if (!text) return failed('empty_output', 'no text');
    if (!isProofOf(text, proof)) return failed('output_mismatch', 'another hash');
    const { attempt } = task;
    const reason = finishReason ?? (stopped ? 'length' : 'stop');
    const isTruncated = stopped === 'deadline' && reason === 'length';
    const of = { reservation, attempt, engine: worker.engine };
    return {
      kind: 'whole',
      answer: {
        ...{ ...of, text, reasoning, finishReason: reason, isTruncated },
        proof: { ...proof, requestCommitment: committed() },
      },
    };
  }

  /** Reads what arrived together. @returns its text, and the attempt's result once there is one */
  function take(events: readonly WorkerEvent[]): { pieces: Piece[]; result?: AttemptResult } {
    const pieces: Piece[] = [];
    noteLife();
    for (const event of events) {
      if (event.type === 'started') worker.engine = event.engine;
      else if (event.type === 'finish') {
        finishReason = stopped ? 'length' : finishReasonOf(event.reason);
      } else if (event.type === 'proof') return { pieces, result: conclude(event) };
      // Another has the job already.
      else if (cut === 'silent') return { pieces, result: failed('worker_error', cut) };
      else if (event.type === 'content' || event.type === 'reasoning') {
        const result = accept(event);
        if (result) return { pieces, result };
        pieces.push(event);
      }
    }
    return { pieces };
  }

  if (clientGone.aborted) leave();
  const answer = workers.submit(task, connection.signal);
  clientGone.addEventListener('abort', leave);
  onDeadline(deadlines.stopAt, endInTime);
  onDeadline(deadlines.proofDueAt, () => cutConnection('overdue'));
  void watchSilence();

  try {
    yield { type: 'started', workerAddress: task.workerAddress, attempt: task.attempt };
    for await (const events of answer) {
      const { pieces, result } = take(events);
      if (pieces.length > 0) {
        yield { type: 'text', pieces, worker, firstTokenMs };
        // Reasoning alone is nothing to prove.
        if (text && clock.nowSeconds() >= deadlines.stopAt) stop('deadline');
      }
      if (result) return result;
    }
    return failed('proof_missing', 'ended without a proof');
  } catch (error) {
    if (cut === 'client_gone') return { kind: 'client_gone' };
    if (cut === 'overdue') return overdue();
    if (!(error instanceof WorkerFailedError)) throw error;
    if (error.code === 'context_length_exceeded' && !hasBegun())
      return { kind: 'context_exceeded' };
    const { param } = error;
    const isOfRequest = param !== undefined && task.chat[param] !== undefined;
    if (error.code === 'parameter_refused' && isOfRequest && !hasBegun()) {
      return { kind: 'refused', param };
    }
    if (REQUEST_REFUSALS.has(error.code) && !hasBegun()) return { kind: 'refused' };
    if (error.code === 'empty_output' && !text) {
      // A worker that claims so after little reasoning has failed like any other.
      const isLimitReached = finishReason === 'length' && boundTokens(reasoning) >= task.tokenLimit;
      return isLimitReached ? { kind: 'limit_reached' } : failed('empty_output', error.code);
    }
    // A worker's clock may be ahead of ours by a little; sooner, it would be an excuse.
    const isLate = clock.nowSeconds() >= deadlines.stopAt;
    if (error.code === 'deadline_passed' && isLate) return overdue();
    return failed('worker_error', cut ?? error.code, error);
  } finally {
    over.abort(OVER);
    silence.abort(OVER);
    clientGone.removeEventListener('abort', leave);
  }
}

/** Any other reason means that the model has finished. */
function finishReasonOf(reason: string): FinishReason {
  return FINISH_REASONS.find((known) => known === reason) ?? 'stop';
}
