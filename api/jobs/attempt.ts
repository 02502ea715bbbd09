import {
  answerCharactersMax,
  boundTokens,
  IDLE_MS,
  silentAtMs,
  TEXT_AGE_MS_MAX,
} from '../../common/tokenizers/tokenCounts.ts';
import { delay, systemTime, type Time } from '../../common/wait.ts';
import type { FinishReason, StopReason, WorkerErrorCode } from '../../common/workerProtocol.ts';
import type { LedgerClock } from '../../programs/client/sender/ledgerClock.ts';
import { answerDetails, statementOf } from '../../programs/client/statement.ts';
import type { JobDeadlines } from '../ledger/job.ts';
import { isProofOf, type WholeAnswer } from '../ledger/proof.ts';
import type { Reservation } from '../workers/capacity.ts';
import {
  commitmentTo,
  createOfferedCalls,
  type WorkerClient,
  type WorkerTask,
} from '../workers/client.ts';
import {
  type Piece,
  type WorkerEvent,
  WorkerFailedError,
  type WorkerProof,
} from '../workers/events.ts';
import { type Asked, answerOf } from './headStart.ts';

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
      /** Whether there was text, a call or reasoning. */
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
  'request_refused',
  'invalid_request',
  'body_too_large',
]);

/** Why a signal aborts. Without a reason, each abort makes an error with a stack. */
const OVER = 'over';

export interface AttemptOptions {
  reservation: Reservation;
  task: WorkerTask;
  /** Set where the worker was asked for it already. */
  asked?: Asked | undefined;
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
  const running = begin(options);
  const { task, workers, clock, deadlines, clientGone, connection, worker } = running;
  const leave = (): void => leaveAnswer(running);
  if (clientGone.aborted) leave();
  const ask = () => workers.submit(task, connection.signal);
  const answer = running.asked ? answerOf(running.asked, ask) : ask();
  clientGone.addEventListener('abort', leave);
  onDeadline(running, deadlines.stopAt, () => endInTime(running));
  onDeadline(running, deadlines.proofDueAt, () => cutConnection(running, 'overdue'));
  void watchSilence(running);
  try {
    yield { type: 'started', workerAddress: task.workerAddress, attempt: task.attempt };
    for await (const events of answer) {
      const { pieces, result } = take(running, events);
      if (pieces.length > 0) {
        yield { type: 'text', pieces, worker, firstTokenMs: running.firstTokenMs };
        // Reasoning alone is nothing to prove.
        if (hasOutput(running) && clock.nowSeconds() >= deadlines.stopAt) stop(running, 'deadline');
      }
      if (result) return result;
    }
    return failed(running, 'proof_missing', 'ended without a proof');
  } catch (error) {
    return judgeError(running, error);
  } finally {
    running.over.abort(OVER);
    running.silence?.abort(OVER);
    clientGone.removeEventListener('abort', leave);
  }
}

type Running = ReturnType<typeof begin>;

/** How the worker says that its answer ended. */
interface AnswerEnd {
  reason: FinishReason;
  truncated: 'deadline' | null;
}

/** An attempt while it runs. Times are milliseconds of `time`. */
function begin(options: AttemptOptions) {
  const { time = systemTime } = options;
  const startedMs = time.nowMs();
  return {
    ...options,
    time,
    startedMs,
    worker: { address: options.reservation.worker.address, engine: null } as TextEvent['worker'],
    text: '',
    reasoning: '',
    offered: createOfferedCalls(options.task.chat),
    firstTokenMs: 0,
    end: undefined as AnswerEnd | undefined,
    commitment: undefined as Uint8Array | undefined,
    /** When text or another sign of life last came. */
    aliveAtMs: startedMs,
    /** When text or a call last came; and that or reasoning. */
    outputAtMs: startedMs,
    writtenAtMs: startedMs,
    /** Set after a silence that was too long: aborts at the next sign of life. */
    silence: undefined as AbortController | undefined,
    connection: options.asked?.connection ?? new AbortController(),
    /** Aborts when the attempt has ended. */
    over: new AbortController(),
    /** Why the answer was stopped, if it was. */
    stopped: undefined as StopReason | undefined,
    /** Why we cut the connection ourselves, if we did. */
    cut: undefined as 'overdue' | 'silent' | 'client_gone' | undefined,
  };
}

/** Whether there is something to prove: text or a call. */
function hasOutput({ text, offered }: Running): boolean {
  return text !== '' || offered.calls.length > 0;
}

function hasBegun(running: Running): boolean {
  return hasOutput(running) || running.reasoning !== '';
}

/** The rest of a stream has no reader, but what was produced is proven and paid. */
function leaveAnswer(running: Running): void {
  if (hasOutput(running) && running.isStream) stop(running, 'client_gone');
  else cutConnection(running, 'client_gone');
}

function stop(running: Running, why: StopReason): void {
  if (running.stopped) return;
  running.stopped = why;
  // A worker that the stop does not reach sends no proof in time, and that is what decides.
  running.workers.stop(running.task, why).catch(() => undefined);
}

function cutConnection(running: Running, why: Running['cut']): void {
  running.cut ??= why;
  running.connection.abort(OVER);
}

function onDeadline({ clock, over }: Running, at: bigint, act: () => void): void {
  void clock.waitUntil(at, over.signal).then(() => {
    if (!over.signal.aborted) act();
  });
}

/**
 * An answer that is still written is cut off with a proof. Any other is given up despite signs of
 * life: else one word, and only signs of life after it, would be paid in full.
 */
function endInTime(running: Running): void {
  if (!hasOutput(running)) return;
  if (running.time.nowMs() - running.outputAtMs <= TEXT_AGE_MS_MAX) stop(running, 'deadline');
  else cutConnection(running, 'silent');
}

/**
 * Ends the attempt after a silence that is too long, once another worker can go on or none came free
 * in time. It counts this process's own time: the ledger's may leap.
 */
async function watchSilence(running: Running): Promise<void> {
  const { startedMs: begunAtMs, time, over, isStream, findSuccessor } = running;
  while (!over.signal.aborted) {
    const { aliveAtMs } = running;
    const firstMs = hasBegun(running) ? undefined : running.firstSilenceMs;
    const leftMs = silentAtMs({ begunAtMs, aliveAtMs }, firstMs) - time.nowMs();
    if (leftMs > 0) {
      // The first text ends the time to read: less may be left then.
      await delay(Math.min(leftMs, IDLE_MS), over.signal, time);
      continue;
    }
    running.silence = new AbortController();
    const { signal } = running.silence;
    const isFinal = hasBegun(running) && isStream;
    if (!isFinal) await findSuccessor(signal);
    if (!signal.aborted) return cutConnection(running, 'silent');
  }
}

/** Reads what arrived together. @returns its text, and the attempt's result once there is one */
function take(
  running: Running,
  events: readonly WorkerEvent[],
): { pieces: Piece[]; result?: AttemptResult } {
  const pieces: Piece[] = [];
  noteLife(running);
  for (const event of events) {
    if (event.type === 'started') running.worker.engine = event.engine;
    else if (event.type === 'finish') running.end = event;
    else if (event.type === 'proof') return { pieces, result: conclude(running, event.proof) };
    // Another has the job already.
    else if (running.cut === 'silent') {
      return { pieces, result: failed(running, 'worker_error', 'silent') };
    } else if (event.type !== 'alive') {
      const result = accept(running, event);
      if (result) return { pieces, result };
      pieces.push(event);
    }
  }
  return { pieces };
}

function noteLife(running: Running): void {
  running.aliveAtMs = running.time.nowMs();
  running.silence?.abort(OVER);
}

/** @returns the attempt's result when the worker sent what no answer can have */
function accept(running: Running, piece: Piece): UnprovenResult | undefined {
  const { time, startedMs, asked, reservation, task, offered } = running;
  const isFirst = !hasBegun(running);
  const fault = piece.type === 'call' ? offered.take(piece) : undefined;
  if (fault) return failed(running, 'worker_error', fault);
  if (isFirst) {
    running.firstTokenMs = time.nowMs() - (asked?.askedMs ?? startedMs);
    setImmediate(commitEarly, running);
    reservation.observeFirstToken(running.firstTokenMs);
  }
  running.writtenAtMs = time.nowMs();
  if (piece.type === 'content') running.text += piece.text;
  if (piece.type === 'reasoning') running.reasoning += piece.text;
  else running.outputAtMs = running.writtenAtMs;
  const length = Math.max(running.text.length + offered.characters(), running.reasoning.length);
  const isTooLong = length > answerCharactersMax(task.tokenLimit);
  return isTooLong ? failed(running, 'worker_error', 'text_too_long') : undefined;
}

/** Of a long request it takes milliseconds: it is made while the worker writes. */
function committed(running: Running): Uint8Array {
  running.commitment ??= commitmentTo(running.task);
  return running.commitment;
}

function commitEarly(running: Running): void {
  try {
    committed(running);
  } catch {
    // The attempt's end throws it again, and the job fails.
  }
}

function conclude(running: Running, proof: WorkerProof): AttemptResult {
  const { reservation, worker, task, text, reasoning, end, offered } = running;
  if (!hasOutput(running)) return failed(running, 'empty_output', 'no text');
  if (!end) return failed(running, 'proof_missing', 'no finish reason');
  if (!isProofOf(text, proof)) return failed(running, 'output_mismatch', 'another hash');
  const { reason: finishReason, truncated } = end;
  // A worker that says so of an answer that was not stopped could not be caught later.
  if (truncated && !(running.stopped === truncated && finishReason === 'length')) {
    return failed(running, 'proof_invalid', 'not stopped');
  }
  const fault = offered.faultOfEnd(finishReason);
  if (fault) return failed(running, 'worker_error', fault);
  const requestCommitment = committed(running);
  const toolCalls = offered.calls;
  const details = answerDetails({ finishReason, truncated, reasoning, toolCalls });
  const statement = statementOf({ requestCommitment, answerDetails: details });
  return {
    kind: 'whole',
    answer: {
      reservation,
      attempt: task.attempt,
      engine: worker.engine,
      text,
      reasoning,
      toolCalls,
      finishReason,
      isTruncated: truncated !== null,
      requestCommitment,
      answerDetails: details,
      proof: { ...proof, statement },
    },
  };
}

/** The result of an attempt that ended by an error. @throws an error of our own */
function judgeError(running: Running, error: unknown): UnprovenResult {
  const { cut, task, reasoning, end, clock, deadlines } = running;
  if (cut === 'client_gone') return { kind: 'client_gone' };
  if (cut === 'overdue') return overdue(running);
  if (!(error instanceof WorkerFailedError)) throw error;
  const { code, param } = error;
  if (!hasBegun(running)) {
    if (code === 'context_length_exceeded') return { kind: 'context_exceeded' };
    const isOfRequest = param !== undefined && task.chat[param] !== undefined;
    if (code === 'parameter_refused' && isOfRequest) return { kind: 'refused', param };
    if (REQUEST_REFUSALS.has(code)) return { kind: 'refused' };
    // Its model may have called none of the request's tools, or none though it had to.
    const mayBeAmiss = code === 'upstream_failed' && task.chat.tools !== undefined;
    if (mayBeAmiss) return failed(running, 'empty_output', code);
  }
  if (code === 'empty_output' && !hasOutput(running)) {
    // A worker that claims so after little reasoning has failed like any other.
    const isLimitReached = end?.reason === 'length' && boundTokens(reasoning) >= task.tokenLimit;
    return isLimitReached ? { kind: 'limit_reached' } : failed(running, 'empty_output', code);
  }
  // A worker's clock may be ahead of ours by a little; sooner, it would be an excuse.
  const isLate = clock.nowSeconds() >= deadlines.stopAt;
  if (code === 'deadline_passed' && isLate) return overdue(running);
  // Behind a part of its answer a worker cannot be busy: it breaks off.
  return failed(running, 'worker_error', cut ?? code, hasBegun(running) ? {} : error);
}

function overdue(running: Running): UnprovenResult {
  const { time, startedMs, writtenAtMs, firstSilenceMs, reasoning } = running;
  const nowMs = time.nowMs();
  const isReading = !hasBegun(running) && nowMs - startedMs <= firstSilenceMs;
  const isThinking = reasoning !== '' && nowMs - writtenAtMs <= TEXT_AGE_MS_MAX;
  return { kind: 'overdue', isExcused: !hasOutput(running) && (isReading || isThinking) };
}

function failed(
  running: Running,
  reason: AttemptFailure,
  cause: string,
  { busy, isRefused = false }: Partial<Pick<WorkerFailedError, 'busy' | 'isRefused'>> = {},
): UnprovenResult {
  return { kind: 'failed', reason, hasBegun: hasBegun(running), cause, busy, isRefused };
}
