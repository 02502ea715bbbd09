import type { PublicKey } from '@solana/web3.js';
import type { LedgerClock } from '../../programs/client/sender/ledgerClock.ts';
import type { Slot } from '../routing/slots.ts';
import type { WorkerClient, WorkerTask } from '../routing/workerClient.ts';
import type { WorkerEvent, WorkerProof } from '../routing/workerEvents.ts';
import { WorkerFailedError } from '../routing/workerFailure.ts';
import { type JobDeadlines, SILENCE_SECONDS } from './deadlines.ts';
import type { FinishReason } from './delivery.ts';
import { isOutput, isSigned } from './proofCheck.ts';
import type { Runner } from './race.ts';

/** The worker's whole answer, whose text has the hash that its proof tells. */
export interface WholeAnswer {
  slot: Slot;
  attempt: number;
  /** What the worker says of its engine. */
  engine: string | null;
  text: string;
  finishReason: FinishReason;
  proof: WorkerProof;
}

/** One whose proof the worker has signed. */
export type ProvenAnswer = WholeAnswer;

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
      /** Set when the worker only had no place. */
      busy?: WorkerFailedError['busy'];
    };

/** Another attempt at the same job had text before, so that nothing of this one was passed on. */
export interface Outrun {
  kind: 'outrun';
  afterMs: number;
}

/** Why a signal aborted; without one, each would make an error with a stack. */
const OVER = 'over';

/** Accepted text per token of the limit: above any tokenizer's longest words, below abuse. */
const CHARACTERS_PER_TOKEN_MAX = 64;
const CHARACTERS_SPARE = 65_536;

/**
 * Asks one worker, passes its text on as it comes, and checks its proof.
 *
 * @param options.onContent called with each accepted piece; it has then counted as delivered
 * @param options.runner says whether its text is wanted
 * @param options.replace finds a worker to go on with once this one has been silent for too long;
 *   false when there is none by the time that `silence` aborts: it has text, or all is over
 * @param options.clientGone aborts when nobody waits for the answer any more
 */
export async function runAttempt(options: {
  slot: Slot;
  task: WorkerTask;
  programId: PublicKey;
  workers: WorkerClient;
  clock: LedgerClock;
  deadlines: JobDeadlines;
  runner: Runner;
  replace: (silence: AbortSignal) => Promise<boolean>;
  onStarted: (engine: string | null) => void;
  onContent: (text: string) => void;
  onFirstToken: (afterMs: number) => void;
  /** Called before the signature is checked, which waits until what this begins is under way. */
  onWhole: (answer: WholeAnswer) => Promise<void>;
  clientGone: AbortSignal;
  /** A plain answer has no reader before its end; one whose reader left is not worth finishing. */
  keepPartial: boolean;
}): Promise<AttemptEnd | Outrun> {
  const { slot, task, workers, clock, deadlines, runner, clientGone } = options;
  const startedAt = clock.nowSeconds();
  const startedMs = performance.now();
  const connection = new AbortController();
  const over = new AbortController();
  const silence = new AbortController();
  const textMax = task.tokenLimit * CHARACTERS_PER_TOKEN_MAX + CHARACTERS_SPARE;
  let text = '';
  let engine: string | null = null;
  let finishReason: FinishReason | undefined;
  let isStopped = false;
  /** Why we cut the connection ourselves, if we did. */
  let cut: 'overdue' | 'silent' | 'client_gone' | 'outrun' | undefined;

  function cutConnection(why: typeof cut): void {
    cut ??= why;
    connection.abort(OVER);
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

  function onDeadline(at: bigint, act: () => unknown): void {
    void clock.waitUntil(at, over.signal).then(() => {
      if (!over.signal.aborted) act();
    });
  }

  const giveUp = (): void => cutConnection('outrun');
  const outrun = (): Outrun => ({ kind: 'outrun', afterMs: performance.now() - startedMs });

  if (clientGone.aborted) leave();
  if (runner.outrun.aborted) giveUp();
  const answer = workers.ask(task, connection.signal);
  // The worker has it: all else is done meanwhile.
  clientGone.addEventListener('abort', leave);
  runner.outrun.addEventListener('abort', giveUp);
  onDeadline(deadlines.stopAt, () => text && stop());
  onDeadline(deadlines.proofDueAt, () => cutConnection('overdue'));
  onDeadline(startedAt + SILENCE_SECONDS, async () => {
    // It may have text by now.
    if ((await options.replace(silence.signal)) && !text) cutConnection('silent');
  });

  const failed = (
    reason: Extract<AttemptEnd, { kind: 'failed' }>['reason'],
    cause: string,
    busy?: WorkerFailedError['busy'],
  ): AttemptEnd => ({ kind: 'failed', reason, hasContent: text !== '', cause, busy });

  async function check(proof: WorkerProof): Promise<AttemptEnd> {
    if (!text) return failed('empty_output', 'no text');
    if (!isOutput(text, proof)) return failed('output_mismatch', 'another hash');
    const { attempt } = task;
    const reason = finishReason ?? (isStopped ? 'length' : 'stop');
    const answer = { slot, attempt, engine, text, finishReason: reason, proof };
    await options.onWhole(answer);
    if (!isSigned(proof, options)) return failed('proof_invalid', 'not its signature');
    return { kind: 'proven', answer };
  }

  /** The attempt's end, once this event decides it. */
  function hear(event: WorkerEvent): AttemptEnd | Outrun | Promise<AttemptEnd> | undefined {
    switch (event.type) {
      case 'started':
        engine = event.engine;
        options.onStarted(engine);
        return undefined;
      case 'content':
        // Another has the job already.
        if (cut === 'silent') return failed('worker_error', cut);
        if (!runner.claim()) return outrun();
        silence.abort(OVER);
        if (!text) options.onFirstToken(performance.now() - startedMs);
        text += event.text;
        if (text.length > textMax) return failed('worker_error', 'text_too_long');
        options.onContent(event.text);
        if (clock.nowSeconds() >= deadlines.stopAt) stop();
        return undefined;
      case 'finish':
        finishReason = event.reason === 'length' || isStopped ? 'length' : 'stop';
        return undefined;
      case 'proof':
        return check(event.proof);
    }
  }

  try {
    for await (const events of answer) {
      for (const event of events) {
        const end = hear(event);
        if (end) return await end;
      }
    }
    return failed(text ? 'proof_missing' : 'empty_output', 'ended without a proof');
  } catch (error) {
    if (cut === 'client_gone') return { kind: 'client_gone' };
    if (cut === 'overdue') return { kind: 'overdue' };
    if (cut === 'outrun') return outrun();
    if (!(error instanceof WorkerFailedError)) throw error;
    if (error.code === 'context_length_exceeded' && !text) return { kind: 'context_exceeded' };
    if (error.code === 'empty_output' && !text) return failed('empty_output', error.code);
    // A worker's clock may be ahead of ours by a little; sooner, it would be an excuse.
    const isLate = clock.nowSeconds() >= deadlines.stopAt;
    if (error.code === 'deadline_passed' && isLate) return { kind: 'overdue' };
    return failed('worker_error', cut ?? error.code, error.busy);
  } finally {
    over.abort(OVER);
    silence.abort(OVER);
    clientGone.removeEventListener('abort', leave);
    runner.outrun.removeEventListener('abort', giveUp);
  }
}
